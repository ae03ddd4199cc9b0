# On a narrow terminal, the folders of a path are shortened, but never its file name.
mkdir -p a/folder/with/a/long/name
cp "$FIXTURES/nasty/json/empty_array.json" a/folder/with/a/long/name/a_very_long_name_of_a_worker_1795171072920024752.json
COLUMNS=60 tracekit list a/folder/with
