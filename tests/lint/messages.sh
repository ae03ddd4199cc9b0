#!/usr/bin/env bash
# Checks messages against the rules of CONTRIBUTING, as far as a program can; `make messages` lists them for review.
exec python3 "$(dirname "$0")/messages.py" --check
