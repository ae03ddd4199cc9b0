#!/usr/bin/env bash
# Compares docs/api/ with the headers, and checks that each function states what a caller must know.
cd "$(dirname "$0")" && exec ./manual.py "$@"
