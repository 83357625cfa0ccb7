"""Results on their way out: a dict of mime type to value becomes one of mime type to text."""

import base64
import json
import types

MAX_VALUE = 8 << 20
MAX_BUNDLE = 12 << 20
OMITTED = "rayito/omitted"


def _text(mime, value):
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, str) and not mime.endswith("json"):
        return value
    if isinstance(value, str) and mime == "application/json":
        try:  # IPython's JSON class hands over objects, old _repr_json_ text
            json.loads(value)
            return value
        except ValueError:
            pass
    return json.dumps(value, ensure_ascii=False, default=str)


def pack(data):
    """Make values text and leave out what is too big, naming it under OMITTED."""
    out, sizes, omitted = {}, {}, []
    for mime, value in data.items():
        if value is None:
            continue
        text = _text(mime, value)
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if size > MAX_VALUE:
            omitted.append(mime)
            continue
        out[mime], sizes[mime] = text, size
    while sum(sizes.values()) > MAX_BUNDLE:
        mime = max(sizes, key=sizes.get)
        omitted.append(mime)
        del out[mime], sizes[mime]
    if omitted:
        out[OMITTED] = json.dumps(sorted(omitted))
    return out


def table(obj):
    """Return the columns of a pandas DataFrame of moderate size, or None."""
    kind = type(obj)
    if kind.__name__ != "DataFrame" or not kind.__module__.startswith("pandas."):
        return None
    if obj.size > 100_000 or not obj.columns.is_unique:
        return None
    try:
        rows = json.loads(obj.to_json(orient="values", date_format="iso", default_handler=str))
        columns = zip(*rows) if rows else ([] for _ in obj.columns)
        return {str(name): list(column) for name, column in zip(obj.columns, columns)}
    except Exception:
        return None  # a nicety: the other forms still go out


def tidy(error):
    """Take out of an exception's tracebacks what is ours, and what has no line.

    An interrupt can fall on the very start of a function, and IPython can't
    show such a place.
    """
    seen = []
    while error is not None and not any(e is error for e in seen):
        seen.append(error)
        trace, kept = error.__traceback__, []
        while trace is not None:
            if (trace.tb_lineno or 0) > 0 and not trace.tb_frame.f_code.co_filename.startswith("<arenero "):
                kept.append(trace)
            trace = trace.tb_next
        for t in reversed(kept):
            trace = types.TracebackType(trace, t.tb_frame, t.tb_lasti, t.tb_lineno)
        error.__traceback__ = trace
        error = error.__cause__ or error.__context__


def cut(error):
    """Bound an error for the wire: a name, a value and a traceback are for reading."""
    if error is None:
        return None
    name, value, trace = error
    limit, kept = 1 << 20, []
    for line in trace:
        line = line[:limit]
        limit -= len(line)
        kept.append(line)
        if limit <= 0:
            break
    return {"name": name[:256], "value": value[: 1 << 18], "traceback": kept}
