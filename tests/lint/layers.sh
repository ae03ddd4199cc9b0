#!/usr/bin/env bash
# Checks which folder may include which; the table is in layers.py.
exec python3 "$(dirname "$0")/layers.py"
