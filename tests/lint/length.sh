#!/usr/bin/env bash
# Checks lengths: functions of at most 80 lines and 6 parameters, files of at most 600 lines, line width, the median of the
# library's functions, a README of one page.
exec python3 "$(dirname "$0")/length.py"
