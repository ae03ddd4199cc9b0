"""Checks of a test program: what fails is printed, all is counted."""
passed = failed = 0


def judge(what, fault=''):
    """`fault` says what is wrong; nothing if it is empty."""
    global passed, failed
    passed += not fault
    failed += bool(fault)
    if fault:
        print(f'{what}: {fault}')


def check(what, ok, found=''):
    """`found` is shown of what is not ok."""
    judge(what, '' if ok else f'{found}' or 'is not so')


def finish():
    """The closing line, and the status to exit with."""
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0
