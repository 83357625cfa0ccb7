"""Runs cells that await something, and brings interrupts to them."""

# What the loop itself is made of.
OWN = ("asyncio", "selectors", "heapq", "socket", "logging", "_arenero")


class Loop:
    """An event loop for one cell after the other, which keeps the tasks they start."""

    def __init__(self, line, between=None):
        self.line = line
        self.between = between  # code of the cell's task that makes coroutines of user code, and awaits them
        self.loop = None
        self.task = None  # the cell, while it runs
        self.hit = None  # the task in which an interrupt was raised
        self.cause = None  # why the cell was cancelled

    def run(self, coro, call=lambda f, *args: f(*args)):
        """Run coro to its end. The loop itself is run by call."""
        import asyncio

        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.current = asyncio.current_task
        self.cancelled = asyncio.CancelledError
        self.hit = self.cause = None
        self.task = self.loop.create_task(coro)
        self.line.loop = self
        try:
            return self.finish(call)
        except asyncio.CancelledError as e:
            raise self.meant(e) from None
        finally:
            self.line.loop = self.task = self.hit = None

    def finish(self, call):
        """Run the loop until the cell has ended, which a cancelled one may take its time for."""
        task = self.task
        while True:
            try:
                return call(self.loop.run_until_complete, task)
            except BaseException as e:
                for t in (task, self.hit):
                    if t is not None and t.done() and not t.cancelled():
                        t.exception()  # asyncio shall not say that nobody has seen it
                if task.done() or self.cause is not None and not isinstance(e, KeyboardInterrupt):
                    raise
                self.cause = e
                task.cancel()

    def over(self):
        """Tell whether the cell has ended and only the loop runs on."""
        return self.task.done()

    def cancel(self, frame):
        """Cancel the cell for an interrupt. False says to raise it where we are, in frame.

        That is right in code of a task or a callback. In the loop's own code, and
        where a task is being put to rest, it would cost us the task.
        """
        task = self.current(self.loop)
        if frame is not None and frame.f_code is self.between:
            code = False
        elif task is not None:
            code = getattr(task.get_coro(), "cr_running", True)
        else:
            code = frame is not None and frame.f_globals.get("__name__", "").split(".")[0] not in OWN
        if code:
            self.hit = task
            return False
        self.cause = self.cause or KeyboardInterrupt()
        self.task.cancel()
        self.loop.call_soon_threadsafe(int)  # it may sleep
        return True

    def meant(self, error):
        """Return what error stands for: that of a cell which was cancelled, why it was."""
        if self.cause is None or not isinstance(error, self.cancelled):
            return error
        return self.cause.with_traceback(error.__traceback__)
