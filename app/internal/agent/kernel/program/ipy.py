"""The shell of sandboxes that have IPython.

IPython is loaded without what only a terminal needs (prompt_toolkit, jedi),
which takes two thirds off its import, and without files in the home folder.
"""

import sys
import types
import warnings

from _arenero import bundle, loop


def _import():
    """Import IPython's shell while its terminal parts are hidden, then unhide them."""
    stub = types.ModuleType("IPython.terminal.embed")

    def embed(**kwargs):
        from IPython.terminal.embed import embed as real

        return real(**kwargs)

    stub.embed = embed
    hidden = {"IPython.terminal.embed": stub, "jedi": None}
    hidden = {name: value for name, value in hidden.items() if name not in sys.modules}
    sys.modules.update(hidden)
    try:
        import IPython.core.completer
        import IPython.core.interactiveshell
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
    if not hasattr(IPython.core.interactiveshell, "InteractiveShell"):
        raise ImportError("IPython has no InteractiveShell")
    return IPython


def make(line, emit, table):
    """Return a shell that hands results to emit(data, main)."""
    IPython = _import()
    from IPython.core import interactiveshell, page
    from IPython.core.displayhook import DisplayHook
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.events import EventManager
    from IPython.core.profiledir import ProfileDir
    from traitlets import Type, observe
    from traitlets.config import Config

    class Hook(DisplayHook):
        def write_output_prompt(self):
            pass

        def write_format_data(self, format_dict, md_dict=None):
            emit(format_dict, True)

        def finish_displayhook(self):
            pass

        def compute_format_data(self, result):
            data, metadata = super().compute_format_data(result)
            columns = table(result)
            if columns is not None:
                data["e2b/data"] = columns
            return data, metadata

    class Publisher(DisplayPublisher):
        def publish(self, data, metadata=None, source=None, **kwargs):
            emit(data, False)

        def clear_output(self, wait=False):
            pass  # what went out can't be called back

    class Profile(ProfileDir):
        @observe("location")
        def _location_changed(self, change):
            pass  # a place by name only: nothing is made on disk

    class Events(EventManager):
        def trigger(self, event, *args, **kwargs):
            if not event.startswith("post_"):
                return super().trigger(event, *args, **kwargs)
            # What is called may be slow: figures are drawn after the cell.
            try:
                line.user(lambda: super(Events, self).trigger(event, *args, **kwargs))
            except KeyboardInterrupt:
                self.shell.showtraceback()

    loops = loop.Loop(line, interactiveshell.InteractiveShell.run_code.__code__)

    class Shell(interactiveshell.InteractiveShell):
        displayhook_class = Type(Hook)
        display_pub_class = Type(Publisher)
        version = IPython.__version__
        trace = None

        def init_ipython_dir(self, ipython_dir):
            pass

        def init_profile_dir(self, profile_dir):
            self.profile_dir = Profile(location="/nonexistent/profile_default")

        def init_virtualenv(self):
            pass

        def enable_gui(self, gui=None):
            pass

        def ask_exit(self):
            raise SystemExit

        def init_events(self):
            super().init_events()
            self.events.__class__ = Events

        async def run_code(self, *args, **kwargs):
            # Interrupts wait in all of IPython but here, where it is user code
            # that runs, and where what they break off is tidied up.
            guard, coro = line.guard, super().run_code(*args, **kwargs)
            try:
                line.guard = 0
                line.check()
                return await coro
            finally:
                line.guard = guard
                coro.close()  # it may not have begun

        def showtraceback(self, *args, **kwargs):
            with line.held():
                super().showtraceback(*args, **kwargs)

        def _get_exc_info(self, exc_tuple=None):
            value = loops.meant(super()._get_exc_info(exc_tuple)[1])
            bundle.tidy(value)
            return type(value), value, value.__traceback__

        def _showtraceback(self, etype, evalue, stb):
            if isinstance(stb, str):
                stb = stb.splitlines()
            self.trace = [etype.__name__, text_of(evalue), list(stb)]

        def run(self, code):
            """Run one cell. Returns its error as [name, value, traceback], or None."""
            self.trace, loops.cause = None, None
            line.user(int)  # an interrupt at the very start ends the cell as simply
            result = self.run_cell(code, store_history=True)
            self.history_manager.db_input_cache = []  # there is no database to empty it
            self.history_manager.db_output_cache = []
            error = loops.meant(result.error_before_exec or result.error_in_exec)
            if error is None:
                return self.trace  # set when a hook after the cell failed
            name, value = type(error).__name__, text_of(error)
            if self.trace is None:
                return [name, value, ["%s: %s" % (name, value)]]
            return [name, value, self.trace[2]]

        @property
        def count(self):
            return self.execution_count

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.xmode = "Context"
    config.InteractiveShell.banner1 = ""
    if hasattr(interactiveshell, "PickleShareDB"):
        interactiveshell.PickleShareDB = lambda path: {}
    warnings.filterwarnings("ignore", message="To exit: use")
    shell = Shell.instance(config=config)
    shell.loop_runner = loops.run
    shell.set_hook("show_in_pager", page.as_hook(page.display_page))
    # The one built on pexpect copies output by hand and wants a terminal.
    shell.system = shell.system_raw
    return shell


def text_of(error):
    try:
        return str(error)
    except Exception:
        return "<no text: str() of the exception failed>"
