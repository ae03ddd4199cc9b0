#!/usr/bin/env bash
# Finds prose that reads as translated.
exec python3 "$(dirname "$0")/english.py" "$@"
