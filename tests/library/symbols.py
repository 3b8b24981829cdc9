"""The library exports exactly the functions declared in its header and listed in its map: symbols.py LIBRARY HEADER MAP
VERSION

VERSION is the program's: 0.1 and 0.2 may differ, so a program linked to one does not start with the other.
"""
import re
import subprocess
import sys
from pathlib import Path

library, header, exports, version = sys.argv[1:]
abi = re.match(r"0\.\d+|\d+", version)[0]
lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
names = [line.split()[-1].split("@") for line in lines.splitlines() if line.split()[1] != "A"]
exported = {name[0] for name in names}
declared = set(re.findall(r"SPECKLESCOPE_API[^;(]*\b(specklescope_\w+)\(", Path(header).read_text()))
listed = set(re.findall(r"^ +(specklescope_\w+);", Path(exports).read_text(), re.M))
wrong = [f"{name}: {'exported' if name in exported else 'not exported'}, "
         f"{'declared' if name in declared else 'not declared'}, {'listed' if name in listed else 'not listed'}"
         for name in sorted(exported | declared | listed) if not name in exported & declared & listed]
dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
wrong += [f"{name[0]} is not of version SPECKLESCOPE_{abi}" for name in names if name[-1] != f"SPECKLESCOPE_{abi}"]
if f"[libspecklescope.so.{abi}]" not in dynamic:
    wrong.append(f"its SONAME is not libspecklescope.so.{abi}")
if "TEXTREL" in dynamic:
    wrong.append("its code is not position-independent")

print("\n".join(wrong) or f"{len(exported)} symbols, each declared and listed.")
sys.exit(1 if wrong or not exported else 0)
