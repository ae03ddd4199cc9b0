#!/usr/bin/env bash
# Calls that the library must not make: unbounded, locale-bound or hidden-state ones, and those that print, exit or abort.  Numbers
# never ask the locale, so a format string with a conversion of a floating-point number is banned too.
cd "$(dirname "$0")/../.." && exec python3 tests/lint/banned.py
