#!/usr/bin/env bash
# Fails if a figure of structure.py, such as the share of functions that are named after their file, exceeds its limit.
exec python3 "$(dirname "$0")/structure.py" "${B:-build}"
