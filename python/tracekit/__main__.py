"""python -m tracekit: runs the command that is installed in the scripts folder of Python."""
import os
import sys
import sysconfig


def main() -> None:
    here = [os.path.join(sysconfig.get_path("scripts"), "tracekit"), os.path.join(sysconfig.get_path("scripts", f"{os.name}_user"), "tracekit")]
    command = next((p for p in here if os.path.exists(p)), None)
    if not command:
        sys.exit("tracekit: the command is not installed beside this package")
    os.execv(command, [command] + sys.argv[1:])


if __name__ == "__main__":
    main()
