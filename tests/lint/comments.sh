#!/usr/bin/env bash
# Comments that name files that do not exist, or that lost their declaration.
exec python3 "$(dirname "$0")/comments.py"
