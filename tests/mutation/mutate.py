#!/usr/bin/env python3
"""Do the tests notice? Small wrong changes to the sources, one at a time, and the tests that reach them.

    mutate.py PATH… [--count N] [--seed S] [--json FILE]   tries N changes in each PATH (a folder or file of the project)
    mutate.py PATH… --again FILE                           tries those of FILE again that nothing noticed
    mutate.py --report FILE… > docs/mutation.md            the page, from what was measured

The sources are copied to build/mutation/tree; all changes are compiled into one program there, each asleep until
SPECKLESCOPE_MUTANT names it (sites.py), so that the libraries are built once; the tests are linked to them from the objects of
build/native, which ./dev mutate has built before. Each suite of tests runs once with no change
awake and tells which it reaches; then each change is woken in the suites that reach it until one fails, crashes or runs ten
times as long as before. A failure counts if it comes twice. Changes that do not compile are not counted; those that make no
difference are listed with the reason in equivalent.json.
"""
import argparse
import collections
import concurrent.futures
import datetime
import functools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import report
import sites

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NATIVE = ROOT / "build" / "native"
WORK = ROOT / "build" / "mutation"
TREE, BUILD = WORK / "tree", WORK / "build"
ROOMS = {  # the programs whose tests can notice, the room's own first
    "stages": ["stages", "pipeline"],
    "pipeline": ["pipeline", "stages", "recording", "sources", "config", "ui"],
    "files": ["recording", "sources", "stages", "config"],
    "sources": ["sources", "recording", "config"],
    "recording": ["recording", "config", "ui"],
    "config": ["config", "ui"],
    "ui": ["ui", "config"],
}
# Half of all sites are numbers; each kind gets a turn instead.
TURNS = ["comparison", "arithmetic", "statement", "constant", "condition", "logic", "not", "function", "arguments",
         "assignment", "bits", "step"]


def output(*words):
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


@functools.cache
def listed(*paths):
    return output("git", "ls-files", "--cached", "--others", "--exclude-standard", *paths).splitlines()


@functools.cache
def data_of(file):
    """A file as it was when it was first looked at: the tree may be worked on meanwhile."""
    return (ROOT / file).read_bytes() if (ROOT / file).is_file() else None


def source_of(file):
    return data_of(file).decode()


def choose(path, count, chosen):
    """A PATH's mutants, by turns of their kinds, no two in the same place."""
    files = [f for f in listed(path) if f.endswith(".cpp")]
    if not files:
        sys.exit(f"mutate: there is no .cpp file of the project in {path}")
    kinds = collections.defaultdict(list)
    for file in files:
        for mutant in sites.find(file, source_of(file)):
            kinds[mutant.kind].append(mutant)
    for kind in TURNS:
        chosen.shuffle(kinds[kind])
    order = [kinds[kind].pop() for _ in range(4 * count) for kind in TURNS if kinds[kind]]
    return sites.apart(order)[:count]


def copy_tree(mutants):
    """The working tree with these mutants in it; what is as it was the last time keeps its date, so that little is built."""
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
    for old in TREE.rglob("*"):
        if old.is_file() and str(old.relative_to(TREE)) not in listed():
            old.unlink()


def build(mutants, programs):
    """Builds what compiles; returns the mutants that do."""
    cache = (NATIVE / "CMakeCache.txt").read_text() if (NATIVE / "CMakeCache.txt").is_file() else ""
    if "SPECKLESCOPE_TESTS:BOOL=ON" not in cache:
        sys.exit("mutate: the tests are not built in build/native; start it as ./dev mutate")
    as_there = re.findall(r"^((?:SPECKLESCOPE_CUDA|CMAKE_CUDA_ARCHITECTURES):\w+=.*)$", cache, re.M)
    options = ["-DSPECKLESCOPE_TESTS=ON", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG",
               *(f"-D{entry}" for entry in as_there)]
    copy_tree(mutants)
    subprocess.run(["cmake", "-G", "Ninja", "-S", TREE, "-B", BUILD, *options], check=True, stdout=subprocess.DEVNULL)
    places = "tests/CMakeFiles/{}_tests.dir/support/places.cpp.o"  # which names the tree and the program
    targets = ["specklescope", "specklescope_bench", "specklescope_ui", *(places.format(p) for p in programs)]
    while True:
        copy_tree(mutants)
        done = subprocess.run(["cmake", "--build", BUILD, "--target", *targets, "--", "-k", "0"], capture_output=True,
                              text=True)
        if done.returncode == 0:
            for program in programs:
                link(program, places.format(program))
            return mutants
        text = done.stdout + done.stderr
        bad = blamed(mutants, text)
        if not bad:
            print(text[-4000:], file=sys.stderr)
            sys.exit("mutate: the copy does not build, and no change is to blame")
        print(f"mutate: {len(bad)} changes do not compile", file=sys.stderr)
        mutants = [m for m in mutants if m.number not in bad]


def link(program, places):
    """One program of tests: its objects from build/native, everything else from the copy."""
    command = subprocess.run(["ninja", "-C", NATIVE, "-t", "commands", f"{program}_tests"], check=True,
                             capture_output=True, text=True).stdout.splitlines()[-1]
    command = command.replace(" libspecklescope_", f" {BUILD}/libspecklescope_").replace(places, f"{BUILD}/{places}")
    subprocess.run(command.replace(f"-o {program}_tests", f"-o {BUILD}/{program}_tests"), shell=True, check=True,
                   cwd=NATIVE)


def blamed(mutants, text):
    """Those whose lines the compiler names, first in its errors, then anywhere; else all of a file that failed."""
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


def run(program, test_filter, seconds, number=0, reached=None):
    """(passed, seconds, the tests that failed, why) of one suite in a process group of its own."""
    environment = dict(os.environ, SPECKLESCOPE_MUTANT=str(number), SPECKLESCOPE_TEST_SEED="1")
    environment.pop("DISPLAY", None)
    if reached:
        environment["SPECKLESCOPE_MUTANTS_REACHED"] = str(reached)
    words = [BUILD / f"{program}_tests", f"--gtest_filter={test_filter}", "--gtest_brief=1"]
    if number:
        words.append("--gtest_fail_fast")

    def limits():  # a change may ask for all memory or fill the disk
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 30, 2 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    begin = time.monotonic()
    with tempfile.TemporaryFile("w+", errors="replace") as out:
        child = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=BUILD,
                                 env=environment, start_new_session=True, preexec_fn=limits)
        try:
            status = child.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(child.pid, signal.SIGKILL)  # what it may have left running
        except ProcessLookupError:
            pass
        child.wait()
        out.seek(0)
        text = out.read()
    took = time.monotonic() - begin
    failed = list(dict.fromkeys(re.findall(r"^\[  FAILED  \] ([\w./]+)", text, re.M)))
    if status == 0:
        return True, took, [], ""
    if status is None:
        return False, took, failed, "time"
    return False, took, failed, "crash" if status < 0 or not failed else "failure"


def suites(program):
    """The suites of a program, by their filters."""
    text = subprocess.run([BUILD / f"{program}_tests", "--gtest_list_tests"], check=True, capture_output=True,
                          text=True).stdout
    return [line.split()[0] + "*" for line in text.splitlines() if line and not line.startswith(" ") and
            line.split()[0].endswith(".")]


class Survey:
    """Which suites reach which mutants, and how long each suite takes."""

    def __init__(self, programs, mutants, jobs):
        self.seconds, self.reach = {}, {}
        size = max((m.number for m in mutants), default=0) + 1
        flaky = []

        def look(job):
            program, suite = job
            with tempfile.NamedTemporaryFile(prefix="mutants-reached-") as file:
                file.truncate(size)
                for attempt in range(3):
                    passed, took, failed, why = run(program, suite, 1800, reached=file.name)
                    if passed:
                        break
                    flaky.append(f"{program} {suite}: {why} {' '.join(failed)}")
                return job, passed, took, {i for i, byte in enumerate(pathlib.Path(file.name).read_bytes()) if byte}

        all_suites = [(p, s) for p in programs for s in suites(p)]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for job, passed, took, reached in pool.map(look, all_suites):
                if passed:
                    self.seconds[job], self.reach[job] = took, reached
        self.unsteady = flaky
        for line in flaky:
            print(f"mutate: fails with no change awake: {line}", file=sys.stderr)

    def jobs(self, mutant):
        """The suites that reach it, those of its room's own program first, quick ones first."""
        order = ROOMS[room_of(mutant.file)]
        found = [job for job, reached in self.reach.items() if mutant.number in reached and job[0] in order]
        return sorted(found, key=lambda job: (order.index(job[0]) > 0 and self.seconds[job] > 5,
                                              self.seconds[job] * (1 if job[0] == order[0] else 3)))


def room_of(file):
    return file.split("/")[0]


def try_mutant(mutant, survey):
    """What notices it: {'outcome': noticed, survived or not reached, …}."""
    begin = time.monotonic()
    jobs = survey.jobs(mutant)
    result = {"outcome": "survived" if jobs else "not reached", "suites": len(jobs)}
    for program, suite in jobs:
        limit = 10 * survey.seconds[program, suite] + 30
        passed, _, failed, why = run(program, suite, limit, mutant.number)
        if passed:
            continue
        if why == "failure":  # chance must not notice
            again = ":".join(failed)
            if run(program, again, limit, mutant.number)[0]:
                continue
        result.update(outcome="noticed", by=f"{program}: {failed[0] if failed else suite}", how=why)
        break
    result["seconds"] = round(time.monotonic() - begin, 1)
    return result


def record(mutant, result=None):
    row = {"file": mutant.file, "line": mutant.line, "kind": mutant.kind, "original": mutant.original,
           "mutated": mutant.mutated}
    return row | (result or {"outcome": "does not compile"})


def same(a, b):
    return all(a[key] == b[key] for key in ("file", "original", "mutated"))


def equivalents():
    return json.loads((HERE / "equivalent.json").read_text())


def wanted(arguments):
    """The mutants to try, and for --again the file's rows."""
    if not arguments.again:
        return [m for path in arguments.paths
                for m in choose(path, arguments.count, random.Random(f"{arguments.seed} {path}"))], None
    old = json.loads(pathlib.Path(arguments.again).read_text())
    left = [row for row in old["mutants"] if row["outcome"] in ("survived", "not reached")]
    found = []
    for file in {row["file"] for row in left}:
        known = sites.find(file, source_of(file))
        for row in (r for r in left if r["file"] == file):
            same_text = [m for m in known if same(record(m), row)]
            if same_text:
                found.append(min(same_text, key=lambda m: abs(m.line - row["line"])))
    return sites.apart(found), old


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", default=str(WORK / "mutants.json"))
    parser.add_argument("--again")
    parser.add_argument("--report", nargs="+")
    arguments = parser.parse_args()
    if arguments.report:
        print(report.page([json.loads(pathlib.Path(f).read_text()) for f in arguments.report], equivalents()), end="")
        return
    if arguments.paths and arguments.paths[-1].isdigit():  # ./dev mutate PATH 40
        arguments.count = int(arguments.paths.pop())
    if not arguments.paths and not arguments.again:
        parser.error("name a folder or a file, for example: ./dev mutate stages 40")

    mutants, old = wanted(arguments)
    marked = equivalents()
    mutants = [m for m in mutants if old is None or not any(same(record(m), e) for e in marked)]
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    rooms = sorted({room_of(m.file) for m in mutants})
    if unknown := set(rooms) - set(ROOMS):
        sys.exit(f"mutate: no tests are named for {', '.join(unknown)}; allowed: {', '.join(ROOMS)}")
    programs = list(dict.fromkeys(p for room in rooms for p in ROOMS[room]))
    print(f"mutate: {len(mutants)} changes, seed {arguments.seed}; building the copy", file=sys.stderr)
    compiled = build(mutants, programs)
    print(f"mutate: {len(compiled)} compile; looking which suites reach them", file=sys.stderr)
    survey = Survey(programs, compiled, arguments.jobs)

    lock, done = threading.Lock(), []
    result = {"commit": output("git", "rev-parse", "--short", "HEAD") + (
                  " and changes" if output("git", "status", "--porcelain", "--untracked-files=no") else ""),
              "date": datetime.date.today().isoformat(), "seed": arguments.seed, "paths": arguments.paths,
              "count": arguments.count, "unsteady": survey.unsteady}
    rows = {m.number: record(m) for m in mutants}

    def save():
        listed = [rows[n] for n in sorted(rows)]
        if old is not None:  # what was noticed before stays noticed
            listed = [next((r for r in listed if same(r, row) and r["outcome"] != "does not compile"), row)
                      for row in old["mutants"]]
            kept = {key: old[key] for key in ("seed", "paths", "count")}
        text = json.dumps((result if old is None else result | kept) | {"mutants": listed}, indent=1,
                          ensure_ascii=False)
        pathlib.Path(arguments.json).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(arguments.json).write_text(text + "\n")

    for mutant in compiled:
        rows[mutant.number] = record(mutant, {"outcome": "not tried"})

    def attempt(mutant):
        if any(same(record(mutant), e) for e in marked):
            outcome = {"outcome": "equivalent"}
        else:
            outcome = try_mutant(mutant, survey)
        with lock:
            rows[mutant.number] = record(mutant, outcome)
            done.append(mutant)
            if outcome["outcome"] != "noticed":
                print(f"  {outcome['outcome']}: {mutant.file}:{mutant.line}: {mutant.original}  →  "
                      f"{mutant.mutated or '(left out)'}", flush=True)
            if len(done) % 10 == 0:
                print(f"mutate: {len(done)} of {len(compiled)}", file=sys.stderr, flush=True)
            save()

    order = list(compiled)
    random.Random(arguments.seed).shuffle(order)  # if it is ended early, every room has had its share
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(attempt, order))
    save()
    print(report.table([json.loads(pathlib.Path(arguments.json).read_text())], marked))


if __name__ == "__main__":
    main()
