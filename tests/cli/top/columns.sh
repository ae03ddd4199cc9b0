# Folded names are globs that match the original names; args count only if they are numbers.
span() { printf '{"ph":"X","name":"%s","pid":1,"tid":1,"ts":%s,"dur":%s,"args":{"bytes":%s}},' "$1" "$2" "$3" "$4"; }
{
  printf '{"traceEvents":['
  span 'fusion.123' 0 5 8; span 'fusion.7' 10 7 '"16"'; span 'copy.3.clone' 20 1 null; span 'loop_fusion_12' 30 1 2.5; span 'loop_fusion_9' 32 1 '"x"'
  span 'void add<float, 4>(float*)' 40 2 1; span 'void add<vec<half>, 2>(float*)' 50 2 3; span 'ProfilerStep#4' 60 1 1; span 'ProfilerStep#5' 62 1 1
  span 'float32' 70 1 1e3; span 'f.py(12): <lambda>' 72 1 0; span 'operator<' 74 1 -1; span 'a->b<c->d>' 76 1 1; span '1' 78 1 1
  printf '{}]}'
} > t.json
tracekit top -q t.json --fold --cols arg.bytes --cols arg.none --sort name --csv
tracekit top -q t.json --name 'void add<*>(float*)' --cols arg.bytes
tracekit top -q t.json --min-count 2 --fold --sort count --top 2
tracekit top -q t.json --by arg.bytes --sort name
