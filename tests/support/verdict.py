"""Checks of a test program: failures are printed, and all checks are counted."""
passed = failed = 0


def judge(what, fault=''):
    """Counts a check; `fault` is the failure, empty if the check passed."""
    global passed, failed
    passed += not fault
    failed += bool(fault)
    if fault:
        print(f'{what}: {fault}')


def check(what, ok, found=''):
    """Counts a check; `found` is printed if `ok` is false."""
    judge(what, '' if ok else f'{found}' or 'is not so')


def finish():
    """Prints the summary line; returns the exit status."""
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0
