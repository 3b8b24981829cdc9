"""Programs built with the first header of this ABI stay compatible: abi.py LIBRARY HEADERS REFERENCE [--write]

Checks the differences that abidiff finds between the reference and the library, which contains debugging information.
Functions may be added. A structure whose size is set by the caller may get members at its end, which --write adds to the
reference. Any other difference requires a new SONAME.
"""
import platform
import shutil
import subprocess
import sys

SKIPPED = 77

library, headers, reference, *options = sys.argv[1:]
if not shutil.which("abidiff"):
    print("abi: Skipped\nnightly: abidiff is not installed")
    sys.exit(SKIPPED)
if platform.machine() != "x86_64":
    print(f"abi: Skipped\nthe reference is for x86_64, not for {platform.machine()}")
    sys.exit(SKIPPED)
if options == ["--write"]:
    subprocess.run(["abidw", "--headers-dir", headers, "--drop-private-types", "--exported-interfaces-only",
                    "--drop-undefined-syms", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path",
                    "--type-id-style", "hash", "--out-file", reference, library], check=True)
    sys.exit()
found = subprocess.run(["abidiff", "--exported-interfaces-only", "--no-added-syms", reference, library],
                       capture_output=True, text=True)
print(found.stdout + found.stderr or "Nothing that a program sees has changed.")
sys.exit(found.returncode)
