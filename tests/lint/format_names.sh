#!/usr/bin/env bash
# No format is known by its name outside of lib/format: format_names.py says where one is.
exec python3 "$(dirname "$0")/format_names.py"
