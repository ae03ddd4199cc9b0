#!/usr/bin/env bash
# Fails if code outside lib/format refers to a format by name; format_names.py prints where.
exec python3 "$(dirname "$0")/format_names.py"
