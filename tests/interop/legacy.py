"""Expected differences in the rows of an engine, because tracekit writes legacy events of Chrome (TrackEvent.legacy_event) in another
form: instants of processes become slices of described tracks, counters become samples. Only their tracks differ. The thread of a
metadata event differs if it is the default of its sequence: the engine takes the last default of the sequence, tracekit the last one
before the event."""
import collections
import json

TYPES = ('legacy_chrome_global_instants', 'chrome_process_instant')
OF_TRACK = ('track_id', 'depth', 'parent_id')  # columns of an event that depend on its track
# Keys of args of tracks and of their events that differ between the two forms.
ARGS = ('name', 'scope', 'source', 'source_scope', 'is_root_in_scope', 'parent_track_uuid', 'merge_key_type', 'merge_key_value', 'track_compressor_idx', 'description')
QUERY = ("select distinct 'C' as phase, n.string_value as name from args n join args p using (arg_set_id) where n.key = 'legacy_event.name' "
         "and p.key = 'legacy_event.phase' and p.string_value = 'C' union select distinct 'T', s.name from slice s join args p "
         "using (arg_set_id) where p.key = 'legacy_event.phase' and p.string_value in ('T', 'p')")


def kind_of(track):
    return (track or '').rpartition('/')[2]


def stripped(text, without):
    return json.dumps({k: v for k, v in json.loads(text).items() if k not in without})


class Legacy:
    """The legacy events of a trace. `rows`: text of its rows by table; `answer`: rows of QUERY."""

    def __init__(self, rows, answer):
        events = [json.loads(text) for table in ('slice', 'instant') for text in rows.get(table, ())]
        self.names = {row['name'] for row in events if kind_of(row.get('track_id')) in TYPES}
        found = [json.loads(row) for row in answer]
        self.counters = tuple(f'{row["name"]} ' for row in found if row['phase'] == 'C')
        self.steps = {row['name'] for row in found if row['phase'] == 'T'}  # in the engine, a step event ends the slice on its track

    def __bool__(self):
        return bool(self.names or self.counters)

    def excuse(self, table, gone, new):
        """Removes expected differences from `gone` and `new`: counters of the rows that only the original or only the output
        has."""
        if not self:
            return
        if table in ('slice', 'instant'):
            pair(gone, new, OF_TRACK, lambda row: kind_of(row.get('track_id')) in TYPES)
            pair(gone, new, (*OF_TRACK, 'dur'), lambda row: row['name'] in self.steps)
        elif table == '__intrinsic_chrome_raw':
            pair(gone, new, ('utid',), lambda row: 'debug.' in row['arg_set_id'])
        elif table == 'args':
            for rows in (gone, new):
                remove(rows, lambda row: row['key'] in ARGS)
        elif 'track' in table:
            remove(gone, lambda row: row.get('type') in TYPES)
            remove(new, lambda row: self.is_made(row.get('name'), row.get('type')))
        elif table == 'counter':
            remove(new, lambda row: self.is_counter(row['track_id']))

    def is_counter(self, name):
        return bool(self.counters) and (name or '').startswith(self.counters)

    def is_made(self, name, kind):
        return name in self.names and (kind or '').endswith('track_event') or self.is_counter(name)


def pair(gone, new, without, condition):
    """Removes rows of `gone` that meet the condition, and rows of `new` that are equal apart from some columns."""
    found = collections.defaultdict(list)
    for text in new.elements():
        found[stripped(text, without)].append(text)
    for text in list(gone.elements()):
        same = found[stripped(text, without)] if condition(json.loads(text)) else None
        if same:
            gone[text] -= 1
            new[same.pop()] -= 1
    for rows in (gone, new):
        for text in [text for text, n in rows.items() if n <= 0]:
            del rows[text]


def remove(rows, condition):
    for text in [text for text in rows if condition(json.loads(text))]:
        del rows[text]
