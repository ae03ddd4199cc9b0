"""A command on a terminal of its own."""
import os
import pty


def shown(program, command, folder, env):
    """Everything that `program` with these arguments writes, run in the folder; its standard output and error are the terminal."""
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
