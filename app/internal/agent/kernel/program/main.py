"""The kernel's loop: one request, one cell, one answer."""

import builtins
import os
import random
import site
import sys

from _arenero import bundle, streams, wire

NOT_SET = object()


class Refused(NotImplementedError):
    """What input() raises. Takes IPython's name for it, which people know."""


Refused.__name__ = Refused.__qualname__ = "StdinNotImplementedError"
Refused.__module__ = "builtins"


def refuse(*args, **kwargs):
    raise Refused("this kernel has no stdin: input() can't ask anyone; pass the value in the code instead")


def prepare(line):
    """Make the process a kernel: its streams, its stdin, its signals."""
    sys.stdout = sys.__stdout__ = streams.Stream(line, 1, "<stdout>")
    sys.stderr = sys.__stderr__ = streams.Stream(line, 2, "<stderr>")
    builtins.input = refuse
    import getpass

    getpass.getpass = refuse
    sys.argv = [""]
    line.arm()
    sys.unraisablehook = line.unraisable
    try:
        import faulthandler

        faulthandler.enable(file=2, all_threads=False)
    except Exception:
        pass
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except Exception:
        pass


class Kernel:
    def __init__(self, line, load, plain):
        self.line = line
        self.shell = None
        backend = "agg"
        if not plain:
            try:
                self.shell = load("ipy").make(line, self.emit, bundle.table)
                backend = "module://matplotlib_inline.backend_inline"
            except ImportError:
                pass
        if self.shell is None:
            self.shell = load("plain").Shell(line, self.emit, bundle.table)
        os.environ.setdefault("MPLBACKEND", backend)
        self.user_site = self.find_user_site()

    def find_user_site(self):
        """Return the folder pip would make for this user, or None when it is in use or unwanted."""
        if not site.ENABLE_USER_SITE:
            return None
        try:
            path = site.getusersitepackages()
        except Exception:
            return None
        return None if path in sys.path else path

    def emit(self, data, main):
        # The value of the cell is followed by the cell's end; what display()
        # shows may be followed by a child's output, so it waits for its place.
        self.line.send({"t": "result", "main": main, "data": bundle.pack(data)}, wait=not main)
        if main:
            self.line.last = 3

    def serve(self):
        while True:
            request = self.line.recv()
            if request is None:
                os._exit(0)
            op = request["op"]
            if op == "run":
                self.run(request)
            elif op == "ping":
                self.line.send({"t": "pong"})
            elif op == "setup":
                self.setup(request)
                self.line.send({"t": "pong"})

    def setup(self, request):
        os.environ.update(request.get("env") or {})
        if request.get("cwd"):
            try:
                os.chdir(request["cwd"])
            except OSError:
                pass
        if request.get("seed"):
            random.seed()
            numpy = sys.modules.get("numpy")
            if numpy is not None:
                numpy.random.seed()

    def run(self, request):
        line, shell = self.line, self.shell
        self.notice_user_site()
        line.cell, line.last = request["cell"], 0
        count = shell.count
        saved = {name: os.environ.get(name, NOT_SET) for name in request.get("env") or ()}
        error = None
        line.arm()
        line.guard, line.running = 1, True  # from here on an interrupt is remembered
        line.send({"t": "start", "count": count}, wait=True)
        os.environ.update(request.get("env") or {})
        try:
            error = shell.run(request["code"])
        except BaseException as e:
            error = [type(e).__name__, str(e), ["%s: %s" % (type(e).__name__, e)]]
        with line.ending:
            line.running = False
        line.arm()
        if not line.mine:
            self.leave(error)  # a child that user code forked and let run on to here
        for name, value in saved.items():
            if value is NOT_SET:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        line.send({"t": "done", "count": count, "error": bundle.cut(error)})
        line.cell = 0

    def leave(self, error):
        if error:
            try:
                sys.stderr.write("\n".join(error[2]) + "\n")
            except Exception:
                pass
        os._exit(1 if error else 0)

    def notice_user_site(self):
        # `pip install` made the folder after we started: put it to use.
        if self.user_site and os.path.isdir(self.user_site):
            import importlib

            site.addsitedir(self.user_site)
            importlib.invalidate_caches()
            self.user_site = None


def run(setup, load):
    line = wire.Wire(3, 4)
    prepare(line)
    kernel = Kernel(line, load, setup.get("plain"))
    version = "%d.%d.%d" % sys.version_info[:3]
    line.send({"t": "ready", "python": version, "ipython": kernel.shell.version})
    if kernel.shell.version:  # the first cell loads more of IPython; let it not be the user's
        kernel.shell.run_cell("None", store_history=False, silent=True)
    kernel.serve()
