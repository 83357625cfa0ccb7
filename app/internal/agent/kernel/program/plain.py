"""A shell made of the standard library alone, for sandboxes without IPython.

It gives the value of the last expression, rich results by the _repr_ methods,
display(), figures as PNG, top-level await, and tracebacks with source lines.
It has no magics.
"""

import __future__
import ast
import builtins
import io
import linecache
import sys
import traceback
import types

from _arenero import bundle, loop

FUTURES = 0
for _name in __future__.all_feature_names:
    FUTURES |= getattr(__future__, _name).compiler_flag
CO_COROUTINE = 0x80

REPRS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_latex_": "text/latex",
    "_repr_json_": "application/json",
    "_repr_javascript_": "application/javascript",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_pdf_": "application/pdf",
}


def figure_png(figure):
    out = io.BytesIO()
    figure.savefig(out, format="png", bbox_inches="tight")
    return out.getvalue()


def is_figure(obj):
    return any(c.__module__ == "matplotlib.figure" and c.__name__ == "Figure" for c in type(obj).__mro__)


def represent(obj):
    """Return obj's forms by mime type, text/plain always among them."""
    data = {"text/plain": repr(obj)}
    if isinstance(obj, type):
        return data  # its _repr_ methods want an instance
    if is_figure(obj):
        data["image/png"] = figure_png(obj)
        return data
    try:
        bundle = getattr(obj, "_repr_mimebundle_", None)
        if callable(bundle):
            extra = bundle(include=None, exclude=None)
            if isinstance(extra, tuple):
                extra = extra[0]
            data.update(extra or {})
    except Exception:
        traceback.print_exc()
    for method, mime in REPRS.items():
        if mime in data:
            continue
        try:
            form = getattr(obj, method, None)
            value = form() if callable(form) else None
        except Exception:
            traceback.print_exc()  # one bad form must not cost the others
            continue
        if isinstance(value, tuple):
            value = value[0]
        if value is not None:
            data[mime] = value
    return data


class PyplotHook:
    """Gives matplotlib.pyplot a show that shows, when user code imports it."""

    def __init__(self, show):
        self.show = show

    def find_spec(self, name, path=None, target=None):
        if name != "matplotlib.pyplot":
            return None
        sys.meta_path.remove(self)
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            module.show = self.show

        spec.loader.exec_module = exec_module
        return spec


class Shell:
    version = ""

    def __init__(self, line, emit, table):
        self.line = line
        self.emit = emit
        self.table = table
        self.count = 1
        self.flags = 0
        self.loop = loop.Loop(line)
        main = types.ModuleType("__main__")
        main.__dict__.update(__builtins__=builtins, In=[""], Out={}, _="", display=self.display)
        sys.modules["__main__"] = main
        self.ns = main.__dict__

        def show(*args, **kwargs):  # a function: pyplot writes on its attributes
            self.show()

        sys.meta_path.insert(0, PyplotHook(show))

    def run(self, code):
        """Run one cell. Returns its error as [name, value, traceback], or None."""
        name = "<cell %d>" % self.count
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        self.ns["In"].append(code)
        number, self.count = self.count, self.count + 1
        try:
            tree = compile(code, name, "exec", self.compile_flags(ast.PyCF_ONLY_AST), True)
            last = None
            if tree.body and isinstance(tree.body[-1], ast.Expr) and not code.rstrip().endswith(";"):
                last = ast.Expression(tree.body.pop().value)
            parts = [self.compile(tree, name, "exec")] if tree.body else []
            if last is not None:
                parts.append(self.compile(last, name, "eval"))
            value = self.evaluate(parts)
            if last is not None and value is not None:
                self.ns["_"] = self.ns["Out"][number] = value
                self.line.user(self.tell, value)
            self.line.user(self.show)
        except BaseException as e:  # SystemExit and KeyboardInterrupt too end a cell, not the kernel
            self.line.interrupted = False  # it comes too late
            for _ in range(2):  # an interrupt may break this off once
                try:
                    return self.line.user(self.error, e)
                except BaseException:
                    pass  # so may the text of an exception, which is user code
            return [type(e).__name__, "", [type(e).__name__]]
        return None

    def compile_flags(self, more=0):
        return self.flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | more

    def compile(self, tree, name, mode):
        code = compile(tree, name, mode, self.compile_flags(), True)
        self.flags |= code.co_flags & FUTURES
        return code

    def evaluate(self, parts):
        """Run all parts, in an event loop if one of them awaits. Returns the value of the last."""
        if any(code.co_flags & CO_COROUTINE for code in parts):
            # To make coroutines runs nothing yet. Those that have not begun in
            # the end have to be closed, or Python will complain.
            todo = [eval(code, self.ns) if code.co_flags & CO_COROUTINE else code for code in parts]
            try:
                return self.loop.run(self.step(todo), self.line.user)
            finally:
                for part in todo:
                    if hasattr(part, "close"):
                        part.close()
        value = None
        for code in parts:
            value = self.line.user(eval, code, self.ns)
        return value

    async def step(self, todo):
        value = None
        for part in todo:
            value = await part if hasattr(part, "close") else eval(part, self.ns)
        return value

    def error(self, e):
        bundle.tidy(e)
        trace = e.__traceback__
        while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("<cell "):
            trace = trace.tb_next
        try:
            value = str(e)
        except Exception:
            value = "<no text: str() of the exception failed>"
        lines = traceback.format_exception(type(e), e, trace)
        return [type(e).__name__, value, [line.rstrip("\n") for line in lines]]

    def tell(self, value):
        self.emit(self.forms(value), True)

    def forms(self, obj):
        data = represent(obj)
        columns = self.table(obj)
        if columns is not None:
            data["e2b/data"] = columns
        return data

    def display(self, *objects, raw=False, **kwargs):
        """Show objects now. With raw=True each is a dict of mime type to value."""
        for obj in objects:
            self.emit(obj if raw else self.forms(obj), False)

    def show(self):
        """Publish and close every open pyplot figure."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None or not hasattr(pyplot, "get_fignums"):
            return
        try:
            for number in pyplot.get_fignums():
                figure = pyplot.figure(number)
                self.display(figure)
                pyplot.close(figure)
        finally:
            with self.line.held():
                pyplot.close("all")  # the next cell shall not show what is left
