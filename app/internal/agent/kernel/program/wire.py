"""The line to the agent: frames out, requests in, and the order between frames and output."""

import json
import os
import signal
import threading
from fcntl import F_DUPFD_CLOEXEC, fcntl, ioctl
from termios import FIONREAD

# Descriptors live up here so that code which closes 3..255 does not cut the line.
HIGH = 300


def _move(fd):
    for floor in (HIGH, 20, 3):
        try:
            high = fcntl(fd, F_DUPFD_CLOEXEC, floor)
            break
        except (OSError, ValueError):
            continue
    os.close(fd)
    return high


def pending(fd):
    """Tell whether a pipe holds bytes that nobody has read."""
    try:
        return any(ioctl(fd, FIONREAD, b"\0\0\0\0"))
    except OSError:
        return False  # user code has put something else there


class Wire:
    """A Wire is used by every thread of the kernel, and by none of its children."""

    def __init__(self, ctrl, ack):
        self.ctrl = _move(ctrl)
        self.ack = _move(ack)
        self.lock = threading.RLock()
        self.owner = os.getpid()
        self.cell = 0  # the cell that runs now; zero between cells
        self.last = 0  # where output went last: 1, 2, or 0 for nothing to wait for
        self.wrote = 0.0  # when that was
        self.syncs = 0
        self.guard = 0  # above zero, an interrupt waits
        self.interrupted = False
        self.running = False
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self):
        # A forked child may print but must not answer for its parent.
        self.owner = 0
        self.lock = threading.RLock()
        for fd in (self.ctrl, self.ack):
            try:
                os.close(fd)
            except OSError:
                pass
        self.ctrl = self.ack = -1

    @property
    def mine(self):
        return self.owner == os.getpid()

    def on_sigint(self, signum, frame):
        if not self.running:
            return  # came too late: the cell it was meant for has ended
        if self.guard:
            self.interrupted = True
            return
        raise KeyboardInterrupt

    def _enter(self):
        main = threading.current_thread() is threading.main_thread()
        if main:
            self.guard += 1
        return main

    def _leave(self, main):
        if not main:
            return
        self.guard -= 1
        self.check()

    def check(self):
        """Raise the interrupt that came while it had to wait."""
        if self.interrupted and not self.guard:
            self.interrupted = False
            if self.running:
                raise KeyboardInterrupt

    def send(self, message, wait=False):
        """Send one frame. With wait, return when the agent has put it in its place."""
        main = self._enter()
        try:
            with self.lock:
                if not self.mine:
                    return
                message["cell"] = self.cell
                if wait:
                    self.syncs += 1
                    message["sync"] = self.syncs
                self._write(message)
                if wait:
                    self.last = 0
                    self._await(self.syncs)
        finally:
            self._leave(main)

    def turn(self, stream):
        """Say that output goes to stream now. What went to the other one has been read when turn returns.

        A caller need not ask for every write, but for the first in a while: a
        child may have written to the other stream meanwhile.
        """
        if self.mine and (self.last not in (0, stream) or pending(3 - stream)):
            self.send({"t": "sync"}, wait=True)
        self.last = stream

    def _write(self, message):
        body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        view = memoryview(len(body).to_bytes(4, "big") + body)
        while view:
            view = view[os.write(self.ctrl, view) :]

    def _await(self, want):
        while True:
            data = b""
            while len(data) < 4:
                part = os.read(self.ack, 4 - len(data))
                if not part:
                    os._exit(0)  # the agent is gone
                data += part
            if int.from_bytes(data, "big") == want & 0xFFFFFFFF:
                return

    def recv(self):
        """Read the next request, or None when the agent has hung up."""
        head = self._read(4)
        if head is None:
            return None
        body = self._read(int.from_bytes(head, "big"))
        return None if body is None else json.loads(body)

    def _read(self, n):
        parts = []
        while n:
            part = os.read(self.ctrl, min(n, 1 << 20))
            if not part:
                return None
            parts.append(part)
            n -= len(part)
        return b"".join(parts)

    def arm(self):
        """Take SIGINT back at the start of a cell, whatever the last one did with it."""
        signal.signal(signal.SIGINT, self.on_sigint)
        self.interrupted = False
