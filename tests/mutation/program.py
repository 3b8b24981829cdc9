"""The copy of the tree with all changes, and the test programs that are linked to it."""
import collections
import functools
import json
import pathlib
import re
import shutil
import subprocess
import sys

import sites

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NATIVE = ROOT / "build" / "native"
WORK = ROOT / "build" / "mutation"
TREE, BUILD = WORK / "tree", WORK / "build"
PLACES = "tests/CMakeFiles/{}_tests.dir/support/places.cpp.o"  # contains the paths of the tree and the program


def output(*words):
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


@functools.cache
def listed(*paths):
    return output("git", "ls-files", "--cached", "--others", "--exclude-standard", *paths).splitlines()


@functools.cache
def data_of(file):
    """A file as it was at the first call: the tree may be edited during the run."""
    return (ROOT / file).read_bytes() if (ROOT / file).is_file() else None


def source_of(file):
    return data_of(file).decode()


def copy_tree(mutants):
    """The working tree with these mutants. Unchanged files keep their date, so that little is rebuilt."""
    by_file = collections.defaultdict(list)
    for mutant in mutants:
        by_file[mutant.file].append(mutant)
    for file in listed():
        data, copy = data_of(file), TREE / file
        if data is None:
            continue
        if file in by_file:
            data = sites.instrumented(data.decode(), by_file[file], HERE / "switch.hpp").encode()
        if not copy.is_file() or copy.read_bytes() != data:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
            shutil.copymode(ROOT / file, copy)
    there = {file for file in listed() if data_of(file) is not None}
    for old in TREE.rglob("*"):
        if old.is_file() and str(old.relative_to(TREE)) not in there:
            old.unlink()


def build(mutants, programs):
    """Builds the mutants that compile, and returns them."""
    cache = (NATIVE / "CMakeCache.txt").read_text() if (NATIVE / "CMakeCache.txt").is_file() else ""
    if "SPECKLESCOPE_TESTS:BOOL=ON" not in cache:
        sys.exit("mutate: the tests are not built in build/native; start it as ./dev nightly mutate")
    as_there = re.findall(r"^((?:SPECKLESCOPE_CUDA|CMAKE_CUDA_ARCHITECTURES):\w+=.*)$", cache, re.M)
    options = ["-DSPECKLESCOPE_TESTS=ON", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
               *(f"-D{entry}" for entry in as_there)]
    copy_tree(mutants)
    subprocess.run(["cmake", "-G", "Ninja", "-S", TREE, "-B", BUILD, *options], check=True, stdout=subprocess.DEVNULL)
    targets = ["specklescope", "specklescope_bench", "specklescope_ui", *(PLACES.format(p) for p in programs)]
    while True:
        copy_tree(mutants)
        done = subprocess.run(["cmake", "--build", BUILD, "--target", *targets, "--", "-k", "0"], capture_output=True,
                              text=True)
        if done.returncode == 0:
            link_all(programs)
            return mutants
        text = done.stdout + done.stderr
        bad = blamed(mutants, text)
        if not bad:
            print(text[-4000:], file=sys.stderr)
            sys.exit("mutate: the copy does not build, and no change is to blame")
        print(f"mutate: {len(bad)} changes do not compile", file=sys.stderr, flush=True)
        mutants = [m for m in mutants if m.number not in bad]


def compiled_in(mutants):
    """Mutants that the preprocessor keeps in the program: it removes vector loops for other processors."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    kept = []
    for file in {m.file for m in mutants}:
        words = next((c["command"] for c in commands if c["file"] == str(TREE / file)), None)
        if words is None:  # a file that this configuration does not build
            continue
        text = subprocess.run(re.sub(r" -o \S+ -c ", " -E ", words), shell=True, cwd=BUILD, capture_output=True,
                              text=True).stdout
        kept += [m for m in mutants if m.file == file and f"mutants::on({m.number})" in text]
    return kept


def link_all(programs):
    for program in programs:
        link(program, PLACES.format(program))


def link(program, places):
    """One program of tests: its objects from build/native, everything else from the copy."""
    command = subprocess.run(["ninja", "-C", NATIVE, "-t", "commands", f"{program}_tests"], check=True,
                             capture_output=True, text=True).stdout.splitlines()[-1]
    command = command.replace(" libspecklescope_", f" {BUILD}/libspecklescope_").replace(places, f"{BUILD}/{places}")
    subprocess.run(command.replace(f"-o {program}_tests", f"-o {BUILD}/{program}_tests"), shell=True, check=True,
                   cwd=NATIVE)


def blamed(mutants, text):
    """Mutants on lines that the compiler names, first in its errors, then anywhere; otherwise all of a file that failed."""
    for pattern in (r"([^\s:]+\.cpp):(\d+):\d+: error", r"([^\s:]+\.cpp):(\d+):\d+:"):
        bad = set()
        for file, line in re.findall(pattern, text):
            for mutant in mutants:
                first = source_of(mutant.file).count("\n", 0, mutant.begin) + 1
                last = source_of(mutant.file).count("\n", 0, mutant.end) + 1
                if file.endswith(mutant.file) and first <= int(line) <= last:
                    bad.add(mutant.number)
        if bad:
            return bad
    return {m.number for m in mutants if f"/{m.file}.o" in "\n".join(
        line for line in text.splitlines() if line.startswith("FAILED"))}
