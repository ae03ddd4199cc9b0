#!/usr/bin/env bash
# Fails if files depend on each other in a cycle, judging by the symbols of their objects; circles.py prints the cycles.
exec python3 "$(dirname "$0")/circles.py" "${B:-build}"
