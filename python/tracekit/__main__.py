"""python -m tracekit: runs the command that is installed in the scripts folder of Python."""
import os
import sys

from ._command import path


def main() -> None:
    command = path()
    if not command:
        sys.exit("tracekit: the command is not installed with this package")
    os.execv(command, [command] + sys.argv[1:])


if __name__ == "__main__":
    main()
