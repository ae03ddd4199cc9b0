"""Exceptions of the package."""


class Error(Exception):
    """A call that failed.

    code        usage, open, read, format, corrupt, limit, write, loss or interrupted
    errno       error number of the system, or None
    offset      byte offset in the decompressed input, or None
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
        """File that the message names: the text before the first colon, or None."""
        return str(self).split(": ", 1)[0] if ": " in str(self) else None


class UsageError(Error, ValueError):
    """The arguments of the call are invalid, not the data."""


class InterruptedByProgress(Error):
    """The progress function stopped the call."""
