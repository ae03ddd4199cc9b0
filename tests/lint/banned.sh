#!/usr/bin/env bash
# Finds calls that the library must not make: unbounded, locale-dependent or stateful ones, and calls that print, exit or abort.
# Numbers must not depend on the locale, so format strings with floating-point conversions are banned too.
cd "$(dirname "$0")/../.." && exec python3 tests/lint/banned.py
