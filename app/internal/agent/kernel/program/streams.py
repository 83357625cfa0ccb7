"""What user code sees as sys.stdout and sys.stderr.

Both write straight to descriptors 1 and 2, so that what Python prints, what C
code prints and what child processes print share one pipe and stay in order.
"""

import io
import os
from time import monotonic as clock


class Raw(io.RawIOBase):
    """The bytes side. A Raw takes all it is given, or raises."""

    def __init__(self, wire, fd):
        self._wire = wire
        self._fd = fd

    def writable(self):
        return True

    def fileno(self):
        return self._fd

    def isatty(self):
        return False

    def close(self):
        pass  # closing sys.stdout must not silence the cells to come

    def write(self, data):
        view = memoryview(data).cast("B")
        size = len(view)
        self._wire.turn(self._fd)
        while view:
            view = view[os.write(self._fd, view) :]
        return size


class Stream(io.TextIOBase):
    """The text side: UTF-8, nothing held back."""

    encoding = "utf-8"
    errors = "backslashreplace"
    newlines = None
    line_buffering = True
    write_through = True
    mode = "w"

    def __init__(self, wire, fd, name):
        self.name = name
        self.buffer = Raw(wire, fd)
        self._wire = wire
        self._fd = fd

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not %s" % type(text).__name__)
        if not text:
            return 0
        data = text.encode("utf-8", "backslashreplace")
        wire, now = self._wire, clock()
        if wire.last != self._fd or now - wire.wrote > 2e-4:
            wire.turn(self._fd)
        wire.wrote = now
        n = os.write(self._fd, data)
        if n != len(data):
            self.buffer.write(memoryview(data)[n:])
        return len(text)

    def writelines(self, lines):
        self.write("".join(lines))

    def writable(self):
        return True

    def fileno(self):
        return self.buffer.fileno()

    def isatty(self):
        return False

    def flush(self):
        pass

    def close(self):
        pass

    def reconfigure(self, **kwargs):
        pass  # there is nothing to choose

    def detach(self):
        raise io.UnsupportedOperation("detach")
