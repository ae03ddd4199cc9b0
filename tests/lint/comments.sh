#!/usr/bin/env bash
# Finds comments that name missing files, or that lost their declaration.
exec python3 "$(dirname "$0")/comments.py"
