# The newest run may be empty: this is reported, and --latest-good takes the newest run that contains a trace.
run=logs/plugins/profile
mkdir -p $run/2026_11_20_12_00_00 $run/2026_11_21_12_00_00 $run/2026_11_22_12_00_00
cp "$FIXTURES"/xplane/multihost/host-0.xplane.pb $run/2026_11_20_12_00_00/
: > $run/2026_11_21_12_00_00/vm.xplane.pb && : > $run/2026_11_22_12_00_00/vm.xplane.pb
tracekit extract logs -o a.json; echo "status $?"
tracekit extract logs --latest-good -o a.json > said; echo "status $?"
cut -d , -f 1 said
tracekit extract logs --latest-good --all; echo "status $?"
tracekit extract --raw -f json logs; echo "status $?"
tracekit extract --raw --no-loss logs; echo "status $?"
# Two runs in one merge are distinguished by their names.
mkdir -p both/step_1000/$run both/step_2000/$run
for step in 1000 2000; do cp -r $run/2026_11_20_12_00_00 both/step_$step/$run/; done
tracekit merge -q both/step_1000 both/step_2000 --align start -o both.json
grep -oE '"name":"[^"]*step [0-9]+[^"]*"' both.json | sort -u
