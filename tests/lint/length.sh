#!/usr/bin/env bash
# Functions of at most 80 lines and 6 parameters, files of at most 600 lines, lines that fit, a median of the library's functions, a README of a page.
exec python3 "$(dirname "$0")/length.py"
