#!/usr/bin/env bash
# No files that need each other in a circle, by the symbols of their objects; circles.py says which there are.
exec python3 "$(dirname "$0")/circles.py" "${B:-build}"
