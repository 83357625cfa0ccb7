"""The line to the agent: frames out, requests in, and the order between frames and output."""

import _thread
import contextlib
import json
import os
import signal
import sys
import threading
import time
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
        self.running = False  # a cell does; else interrupts come too late
        self.ending = threading.Lock()  # is held when running gets false
        self.interrupted = False  # one has come, and waits
        self.guard = 1  # above zero, interrupts wait: it is zero in user code alone
        self.loop = None  # what runs the cell, if it awaits something
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
        if self.running:
            self.interrupted = True
            self.check(frame)

    def check(self, frame=None):
        """Let the interrupt that came take effect, if this is the place for it."""
        if self.guard or not self.interrupted or not self.running:
            return
        if self.loop is not None:
            if self.loop.over():
                return  # it is for the code that follows
            if self.loop.cancel(frame):
                self.interrupted = False
                return
        self.interrupted = False
        raise KeyboardInterrupt

    def unraisable(self, what):
        """Be Python's hook for what is raised in a finalizer, from where it can't go on.

        An interrupt is tried again until it is raised elsewhere.
        """
        if what.exc_type is not KeyboardInterrupt or not self.mine:
            return sys.__unraisablehook__(what)
        with self.held(late=True):
            self.interrupted = True
            _thread.start_new_thread(self._again, (self.cell,))

    def _again(self, cell):
        while True:
            time.sleep(1e-3)
            with self.ending:
                if not self.interrupted or not self.running or self.cell != cell:
                    return
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def user(self, f, *args):
        """Call user code. An interrupt that waits, or comes now, is raised in it."""
        guard = self.guard
        try:
            self.guard = 0
            self.check()
            return f(*args)
        finally:
            self.guard = guard  # first of all, and in one step: nothing can come between

    @contextlib.contextmanager
    def held(self, late=False):
        """Let interrupts wait in the body, though user code has called it, and if late, after."""
        main = self._enter()
        try:
            yield
        finally:
            self._leave(main, late)

    def _enter(self):
        main = threading.current_thread() is threading.main_thread()
        if main:
            self.guard += 1
        return main

    def _leave(self, main, late=False):
        if not main:
            return
        self.guard -= 1
        if not late:
            self.check()

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
        """Take SIGINT back from user code, whatever it did with it."""
        signal.signal(signal.SIGINT, self.on_sigint)
        self.interrupted = False
