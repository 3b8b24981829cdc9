"""What the library exports is what its header declares and its map lists, and nothing else: symbols.py LIBRARY HEADER MAP"""
import re
import subprocess
import sys
from pathlib import Path

library, header, exports = sys.argv[1:]
lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
exported = {line.split()[-1].split("@")[0] for line in lines.splitlines() if line.split()[1] != "A"}
declared = set(re.findall(r"SPECKLESCOPE_API[^;(]*\b(specklescope_\w+)\(", Path(header).read_text()))
listed = set(re.findall(r"^ +(specklescope_\w+);", Path(exports).read_text(), re.M))
wrong = [f"{name}: {'exported' if name in exported else 'not exported'}, "
         f"{'declared' if name in declared else 'not declared'}, {'listed' if name in listed else 'not listed'}"
         for name in sorted(exported | declared | listed) if not name in exported & declared & listed]
dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
if "[libspecklescope.so.0]" not in dynamic:
    wrong.append("its SONAME is not libspecklescope.so.0")
if "TEXTREL" in dynamic:
    wrong.append("its code is not position-independent")
print("\n".join(wrong) or f"{len(exported)} symbols, each declared and listed.")
sys.exit(1 if wrong or not exported else 0)
