#!/usr/bin/env bash
# What a user is told keeps CONTRIBUTING's rules of English, as far as a program can see; `make messages` lists all of it, to be read.
exec python3 "$(dirname "$0")/messages.py" --check
