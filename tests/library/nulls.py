"""Calls every function with NULL, empty structs and texts, and handles that have ended, never existed or are of another
kind, in every combination. It must return, with a message if it refuses; a wrong handle must be refused as such:
nulls.py LIBRARY HEADER"""
import ctypes
import itertools
import re
import sys
import tempfile
from pathlib import Path

from client import Library

KINDS = ("chain", "stream", "frame", "view", "recorder", "memory")
NUMBERS = {"size_t": ctypes.c_size_t, "int32_t": ctypes.c_int32, "uint64_t": ctypes.c_uint64, "double": ctypes.c_double}
STATUSES, BAD_HANDLE = range(8), 3


def functions(header):
    """(name, its parameters as in C)."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    for name, parameters in re.findall(r"SPECKLESCOPE_API specklescope_status specklescope_(\w+)\(([^)]*)\)", text):
        yield name, [" ".join(one.split()) for one in parameters.split(",")]


def handles(door, folder):
    """One live handle of each kind."""
    made = {kind: ctypes.c_void_p() for kind in KINDS}
    settings = door.sized(door.Settings, options=b"backend=cpu,threads=1")
    data = ctypes.c_void_p()
    door.call("chain_create", b"speckle", ctypes.byref(settings), ctypes.byref(made["chain"]))
    door.call("stream_open", b"synthetic:uniform?width=64&height=48&live=false", b"", ctypes.byref(settings),
              ctypes.byref(made["stream"]))
    door.call("stream_next", made["stream"], ctypes.c_double(-1), ctypes.byref(made["frame"]))
    door.call("view_create", None, ctypes.byref(made["view"]))
    door.call("recorder_create", f"{folder}/x.tiff".encode(), None, ctypes.byref(made["recorder"]))
    door.call("memory_create_host", made["chain"], ctypes.c_size_t(64), ctypes.byref(data), ctypes.byref(made["memory"]))
    return made


def end(door, handles):
    for kind in ("frame", "stream", "chain", "view", "recorder", "memory"):
        door.call(f"{kind}_{'close' if kind == 'stream' else 'free'}", handles[kind])


def handle_kind(parameter):
    return next((kind for kind in KINDS if parameter.startswith(f"specklescope_{kind}* ")), None)


def choices(parameter, alive):
    """Test values for a parameter."""
    if kind := handle_kind(parameter):
        others = [handle for other, handle in alive.items() if other != kind]
        return [None, ctypes.c_void_p(7), ctypes.c_void_p(2**64 - 1), others[0]]
    for kind, number in NUMBERS.items():
        if parameter.startswith(kind + " "):
            return [number(0), number(-1)] if kind != "double" else [number(0), number(float("nan"))]
    return [None, ctypes.create_string_buffer(4096)]


def main(folder):
    library, header = sys.argv[1:]
    door = Library(library, header)
    text = Path(header).read_text()
    wrong, calls, refused = [], 0, 0
    alive, ended = handles(door, folder), handles(door, folder)
    end(door, ended)
    for name, parameters in functions(text):
        if kind := handle_kind(parameters[0]):
            for bad in (ended[kind], *choices(parameters[0], alive)):
                given = [bad if handle_kind(one) else choices(one, alive)[-1 if "*" in one else 0] for one in parameters]
                status = getattr(door.calls, "specklescope_" + name)(*given)
                expected = 0 if bad is None and name.endswith(("_free", "_free_idle", "_close")) and name != "recorder_close" else BAD_HANDLE
                if status != expected:
                    wrong.append(f"{name} with the handle {bad}: {status}, not {expected}")
        ends = name.endswith(("_free", "_free_idle", "_close"))
        given = [choices(one, alive) for one in parameters]
        # Also combined with a live handle; functions that would end it are not called.
        if kind and not ends:
            given[0] = [*given[0], alive[kind]]
        for arguments in itertools.product(*given):
            fresh = [ctypes.create_string_buffer(4096) if isinstance(one, ctypes.Array) else one for one in arguments]
            status = getattr(door.calls, "specklescope_" + name)(*fresh)
            sentence = door.calls.specklescope_last_error().decode()
            calls += 1
            refused += status != 0
            if status not in STATUSES or (status == 0) != (sentence == "") or "\n" in sentence or (sentence and sentence[-1] != "."):
                wrong.append(f"{name}({', '.join(map(str, fresh))}): {status}, '{sentence}'")
    end(door, alive)
    print("\n".join(wrong) or f"{calls} calls, {refused} of them refused.")
    assert refused > 100
    return 1 if wrong else 0


with tempfile.TemporaryDirectory() as place:
    sys.exit(main(place))
