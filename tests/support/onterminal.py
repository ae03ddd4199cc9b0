"""Runs a command on a pseudo-terminal."""
import os
import pty


def shown(program, command, folder, env):
    """Returns everything that `program` with these arguments writes, run in the folder, with standard output and standard error
    on the terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(program, command, env)
    text = b''
    while True:
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        text += more
    os.waitpid(pid, 0)
    os.close(fd)
    return text.decode()
