"""The exception of the package."""


class Error(Exception):
    """A call that failed.

    code        usage, open, read, format, corrupt, limit, write, loss or interrupted
    errno       of the system, or None
    offset      byte in the decompressed input, or None
    """

    def __new__(cls, code="", message="", errno=0, offset=None):
        kind = {"usage": UsageError, "interrupted": InterruptedByProgress}.get(code, cls)
        return super().__new__(kind if cls is Error else cls)

    def __init__(self, code="", message="", errno=0, offset=None):
        super().__init__(message)
        self.code = code
        self.errno = errno or None
        self.offset = offset

    def __reduce__(self):
        return Error, (self.code, str(self), self.errno or 0, self.offset)

    @property
    def file(self):
        """What the message says was read or written: the words before its first colon."""
        return str(self).split(": ", 1)[0] if ": " in str(self) else None


class UsageError(Error, ValueError):
    """The call, not the data, is wrong."""


class InterruptedByProgress(Error):
    """The call was told to stop."""
