"""The options listed in the header equal those that the library accepts: options.py LIBRARY HEADER"""
import ctypes
import re
import sys
from pathlib import Path

from client import Library

library, header = sys.argv[1:]
door = Library(library, header)


def options_of(what):
    """Options listed in an error message."""
    settings, none = door.sized(door.Settings, options=b"none=1"), ctypes.c_void_p()
    try:
        if what == "chain":
            door.call("chain_create", b"", ctypes.byref(settings), ctypes.byref(none))
        else:
            door.call("stream_open", b"synthetic", b"", ctypes.byref(settings), ctypes.byref(none))
    except RuntimeError as refused:
        return set(re.search(r"has no option 'none'; allowed: (.*)\.$", str(refused))[1].split(", "))
    raise AssertionError(f"a {what} takes an option 'none'")


said = re.search(r"For a\s+\*?\s*chain: (.*?)\. For a stream also: (.*?)\.\s+\*? ?Only for\s+\*?\s*a chain: (.*?)\.", Path(header).read_text(), re.S)
own, more, alone = (set(re.findall(r"\w+", re.sub(r"\([^)]*\)", "", part))) for part in said.groups())
wrong = [f"the option {name} of a {what} is {'in the header alone' if name in told else 'not in the header'}"
         for what, told in (("chain", own | alone), ("stream", own | more)) for name in sorted(told ^ options_of(what))]
print("\n".join(wrong) or f"{len(own | alone)} options of chains, {len(own | more)} of streams, each in the header.")
sys.exit(1 if wrong else 0)
