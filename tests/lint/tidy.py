#!/usr/bin/env python3
"""Runs clang-tidy on every source that was not clean before or has changed since: tidy.py BUILD SOURCE…

BUILD contains compile_commands.json. The hash of a source covers all that clang-tidy reads: the file, every included
header of the project, the command, .clang-tidy, and the versions of clang-tidy and of the packages with headers. Hashes
of clean sources are stored in the cache (~/.cache/specklescope/tidy, or XDG_CACHE_HOME); sources with findings are
checked again.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(rb'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def output(*command):
    return subprocess.run(command, capture_output=True, check=False).stdout


class Seen:
    """The hash of a file and of all project headers that it includes."""

    def __init__(self, folders):
        self.folders, self.includes, self.hashes = folders, {}, {}

    def included(self, file):
        if file not in self.includes:
            data = file.read_bytes()
            self.hashes[file] = hashlib.sha256(data).hexdigest()
            # Headers outside the project belong to a package, whose version counts.
            found = ((folder / os.fsdecode(name)) for name in INCLUDE.findall(data)
                     for folder in (file.parent, *self.folders))
            self.includes[file] = {path.resolve() for path in found if path.is_file()}
        return self.includes[file]

    def of(self, file):
        reached, left = set(), [file]
        while left:
            one = left.pop()
            if one not in reached:
                reached.add(one)
                left += self.included(one)
        return sorted(self.hashes[one] for one in reached)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "specklescope/tidy"
    cache.mkdir(parents=True, exist_ok=True)
    commands = {entry["file"]: entry["command"] for entry in json.loads((build / "compile_commands.json").read_text())}
    seen = Seen([ROOT, build / "generated", ROOT / "include"])
    common = [output("clang-tidy", "--version"), (ROOT / ".clang-tidy").read_bytes(),
              output("dpkg-query", "-W", "-f", "${Package} ${Version}\n", "*-dev")]

    def work(name):
        source = (ROOT / name).resolve()
        command = commands.get(str(source), "").replace(str(build), "BUILD").replace(str(ROOT), "ROOT")
        parts = [*common, name.encode(), command.encode(), *(text.encode() for text in seen.of(source))]
        clean = cache / hashlib.sha256(b"\0".join(parts)).hexdigest()
        if clean.exists():
            return name, False, ""
        done = subprocess.run(["clang-tidy", "--quiet", "--warnings-as-errors=*", "-p", build, source],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
        if done.returncode == 0:
            clean.touch()
            return name, True, ""
        return name, True, done.stdout or done.stderr

    failed = looked = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, tried, text in pool.map(work, sys.argv[2:]):
            looked += tried
            if text:
                failed += 1
                print(text.replace(f"{ROOT}/", ""), flush=True)
    print(f"lint: clang-tidy looked at {looked} of {len(sys.argv) - 2} sources, the others were clean as they are; "
          f"findings in {failed}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
