#!/usr/bin/env bash
# Prose that reads as translated.
exec python3 "$(dirname "$0")/english.py" "$@"
