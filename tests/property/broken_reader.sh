#!/usr/bin/env bash
# Checks that the comparisons of tests/corpus detect a reader that drops an event, shifts one by a nanosecond, loses a flow,
# swaps two threads, and so on.
exec "$SRC/tests/corpus/run.sh" --self-test
