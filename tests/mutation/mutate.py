#!/usr/bin/env python3
"""Measures whether the tests notice small wrong changes to the sources, made one at a time.

    mutate.py PATH… [--count N] [--seed S] [--json FILE]   tries N changes in each PATH (a folder or file of the project)
    mutate.py --again FILE [PATH…] [--json FILE]           repeats those of FILE that were not noticed or not tried
        [--as-built] [--tests FILTER]                      with the changes as compiled for FILE; with these tests only
    mutate.py --report FILE… [--note NOTE] > docs/mutation.md   prints the page, and writes the table as a NOTE

The sources are copied to build/mutation/tree. All changes are compiled there into one program (program.py) and are
inactive until SPECKLESCOPE_MUTANT selects one (sites.py), so the libraries are built only once. The tests come from the
objects of build/native, which ./dev nightly mutate builds first. Each test first runs without a change, to find the
changes that it reaches (survey.py). Then each change is activated in these tests, the quick ones first and in one
process, until a test fails, crashes or takes ten times as long. A failure counts if it happens twice. Changes that do
not compile are replaced by others. Changes without an effect are listed with the reason in equivalent.json.
"""
import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import random
import sys
import threading

import program
import sites
import survey

sys.path.insert(0, str(program.ROOT / "tests/support"))
import reliability  # noqa: E402

# Half of all sites are numbers, so the kinds take turns.
TURNS = ["comparison", "arithmetic", "statement", "constant", "condition", "logic", "not", "function", "arguments",
         "assignment", "bits", "step"]
LEFT = ("survived", "not reached", "not tried")  # tried by --again


def choose(path, count, chosen):
    """Mutants of a PATH, alternating between kinds, at different places. A third more than COUNT, as some will not
    compile."""
    files = [f for f in program.listed(path) if f.endswith(".cpp")]
    if not files:
        sys.exit(f"mutate: there is no .cpp file of the project in {path}")
    kinds = collections.defaultdict(list)
    for file in files:
        for mutant in sites.find(file, program.source_of(file)):
            kinds[mutant.kind].append(mutant)
    for kind in TURNS:
        chosen.shuffle(kinds[kind])
    order = [kinds[kind].pop() for _ in range(4 * count) for kind in TURNS if kinds[kind]]
    found = sites.apart(order)[:count + count // 3]
    for mutant in found:
        mutant.path = path
    return found


def enough(mutants, compiled, count):
    """The first COUNT mutants of each PATH that compile, and the earlier ones that do not."""
    works, kept, tried = {m.number for m in compiled}, [], collections.Counter()
    for mutant in mutants:
        if tried[mutant.path] < count:
            kept.append(mutant)
            tried[mutant.path] += mutant.number in works
    return kept, [m for m in kept if m.number in works]


def left_of(old, paths):
    """The mutants of the unnoticed rows, without those whose code has changed since."""
    found = []
    for index, row in enumerate(old["mutants"]):
        if row["outcome"] not in LEFT or (paths and not any(row["file"].startswith(p) for p in paths)):
            continue
        known = sites.find(row["file"], program.source_of(row["file"])) if program.data_of(row["file"]) else []
        alike = [m for m in known if same(record(m), row)]
        if alike:
            mutant = min(alike, key=lambda m: abs(m.line - row["line"]))
            mutant.row = index
            found.append(mutant)
        else:
            row["outcome"] = "gone"
    return sites.apart(found)


def record(mutant, result=None):
    row = {"file": mutant.file, "line": mutant.line, "kind": mutant.kind, "original": mutant.original,
           "mutated": mutant.mutated, "number": mutant.number,
           "at": program.source_of(mutant.file).splitlines()[mutant.line - 1].strip()}
    return row | (result or {"outcome": "does not compile"})


def load(file):
    return json.loads(pathlib.Path(file).read_text())


class Campaign:
    """The changes that were tried and their outcomes, written to a file after each try."""

    def __init__(self, arguments, old):
        self.file, self.old, self.rows, self.lock, self.tried = pathlib.Path(arguments.json), old, {}, threading.Lock(), 0
        commit = program.output("git", "rev-parse", "--short", "HEAD")
        changed = program.output("git", "status", "--porcelain", "--untracked-files=no")
        self.head = {"commit": commit + (" and changes" if changed else ""), "date": datetime.date.today().isoformat(),
                     "seed": arguments.seed, "paths": arguments.paths, "count": arguments.count}
        if old is not None:
            self.head |= {key: old[key] for key in ("seed", "paths", "count")}

    def save(self):
        rows = [self.rows[number] for number in sorted(self.rows)]
        if self.old is not None:  # what was noticed before stays noticed
            rows = [self.rows.get(index, row) for index, row in enumerate(self.old["mutants"])]
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(reliability.compact(self.head | {"mutants": rows}))

    def put(self, mutant, result):
        self.rows[mutant.number if self.old is None else mutant.row] = record(mutant, result)

    def told(self, mutant, result, of):
        with self.lock:
            self.put(mutant, result)
            self.tried += 1
            if result["outcome"] != "noticed":
                print(f"  {result['outcome']}: {mutant.file}:{mutant.line}: {mutant.original}  →  "
                      f"{mutant.mutated or '(left out)'}  [{mutant.number}, {result.get('seconds', 0)} s]", flush=True)
            if self.tried % 10 == 0:
                print(f"mutate: {self.tried} of {of}", file=sys.stderr, flush=True)
            self.save()


def campaign(arguments, marked):
    old = load(arguments.again) if arguments.again else None
    if old is None:
        mutants = [m for path in arguments.paths
                   for m in choose(path, arguments.count, random.Random(f"{arguments.seed} {path}"))]
    else:
        mutants = [m for m in left_of(old, arguments.paths) if not any(same(e, record(m)) for e in marked)]
    for number, mutant in enumerate(mutants, 1):
        mutant.number = old["mutants"][mutant.row]["number"] if arguments.as_built else number
    rooms = sorted({survey.room_of(m.file) for m in mutants})
    if unknown := set(rooms) - set(survey.ROOMS):
        sys.exit(f"mutate: no tests are named for {', '.join(unknown)}; allowed: {', '.join(survey.ROOMS)}")
    programs = list(dict.fromkeys(p for room in rooms for p in survey.ROOMS[room]))
    print(f"mutate: {len(mutants)} changes, seed {arguments.seed}; building the copy", file=sys.stderr, flush=True)
    programs = [p for p in programs if any(survey.tests_of(program.NATIVE, p, arguments.tests))]
    if arguments.as_built:  # only the tests are new
        program.link_all(programs)
        compiled = mutants
    else:
        compiled = program.build(mutants, programs)
    if old is None:
        mutants, compiled = enough(mutants, compiled, arguments.count)
    print(f"mutate: {len(compiled)} of {len(mutants)} compile; looking which tests reach them", file=sys.stderr, flush=True)
    results = Campaign(arguments, old)
    looked = survey.Survey(program.BUILD, programs, compiled, arguments.jobs, arguments.tests)
    results.head["unsteady"] = looked.unsteady
    for mutant in mutants:
        results.put(mutant, {"outcome": "not tried"} if mutant in compiled else None)

    def attempt(mutant):
        equivalent = any(same(e, record(mutant)) for e in marked)
        result = {"outcome": "equivalent"} if equivalent else looked.attempt(mutant)
        if result["outcome"] == "not reached" and arguments.tests != "*":  # not reached by these tests; others may reach it
            result["outcome"] = old["mutants"][mutant.row]["outcome"] if old else "not tried"
        results.told(mutant, result, len(order))

    reached = set().union(*looked.reach.values())
    there = program.compiled_in([m for m in compiled if m.number not in reached])
    absent = [m for m in compiled if m.number not in reached and m not in there]
    for mutant in absent:
        results.put(mutant, {"outcome": "not in this program"})

    order = [m for m in compiled if m not in absent]
    random.Random(arguments.seed).shuffle(order)  # if the run is ended early, all rooms have had an equal share
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(attempt, order))
    results.save()
    print(table([load(arguments.json)], marked))


# The page

GOALS = {"stages": 95, "pipeline": 85, "recording": 85, "sources": 85, "config": 85, "ui": 70}
COUNTED = ("noticed", "survived", "not reached")


def same(a, b):
    """True if the changes have the same text, and the same line if the list of equivalent ones gives it ("at")."""
    return all(a[key] == b[key] for key in ("file", "original", "mutated")) and \
        ("reason" not in a or "at" not in a or a["at"] == b.get("at"))


def rows_of(runs, marked):
    """Every mutant of all runs, once. Unnoticed ones are marked if the list calls them equivalent."""
    rows = {}
    for run in runs:
        for row in run["mutants"]:
            if any(same(e, row) for e in marked) and row["outcome"] in ("survived", "not reached"):
                row = row | {"outcome": "equivalent"}
            rows.setdefault((row["file"], row["line"], row["original"], row["mutated"]), row)
    return list(rows.values())


def counts_of(runs, marked):
    rooms = collections.defaultdict(collections.Counter)
    for row in rows_of(runs, marked):
        rooms[row["file"].split("/")[0]][row["outcome"]] += 1
    return rooms


def ordered(rooms):
    return [room for room in [*GOALS, *sorted(set(rooms) - set(GOALS))] if room in rooms]


def table(runs, marked):
    rooms = counts_of(runs, marked)
    lines = ["| folder | tried | noticed | survived | not reached by any test | share noticed | goal | equivalent | "
             "did not compile |",
             "|---|---|---|---|---|---|---|---|---|"]
    for room in ordered(rooms):
        lines.append(line(f"`{room}/`", rooms[room], f"{GOALS[room]} %" if room in GOALS else ""))
    lines.append(line("all", sum(rooms.values(), collections.Counter()), ""))
    return "\n".join(lines)


def share(counts):
    tried = sum(counts[outcome] for outcome in COUNTED)
    return f"{100 * counts['noticed'] / tried:.0f} %" if tried else ""


def line(name, counts, goal):
    tried = sum(counts[outcome] for outcome in COUNTED)
    return (f"| {name} | {tried} | {counts['noticed']} | {counts['survived']} | {counts['not reached']} | {share(counts)} | "
            f"{goal} | {counts['equivalent']} | {counts['does not compile']} |")


def command(run):
    return f"./dev nightly mutate {' '.join(run['paths'])} {run['count']} --seed {run['seed']}"


def write_note(file, runs, marked):
    """Writes the table as a note for docs/reliability.md."""
    rooms = counts_of(runs, marked)
    reliability.note(file, "mutation", "; ".join(dict.fromkeys(command(run) for run in runs)),
                     [{"what": f"{room}/", "tries": sum(rooms[room][outcome] for outcome in COUNTED),
                       "noticed": rooms[room]["noticed"], "not noticed": rooms[room]["survived"],
                       "not reached": rooms[room]["not reached"], "share": share(rooms[room]),
                       "goal": f"{GOALS[room]} %" if room in GOALS else ""} for room in ordered(rooms)],
                     commit="; ".join(dict.fromkeys(run["commit"] for run in runs)))


def cell(text):
    return "`" + text.replace("|", "\\|") + "`" if text else "(left out)"


def page(runs, marked):
    rows = rows_of(runs, marked)
    text = ["# Tests that notice", "",
            "Written by `tests/mutation/mutate.py --report` from `docs/mutation/*.json`. Each row of the table counts",
            "small wrong changes — an operator, a constant, a condition, swapped arguments, a statement left out — tried one",
            "at a time; *noticed* means that a test failed twice, crashed or ran ten times as long. Changes that do not compile",
            "are not counted, nor those that make no difference (listed with the reason in `tests/mutation/equivalent.json`).",
            "", table(runs, marked), "", "| measured with | date | commit | changes not tried |", "|---|---|---|---|"]
    for run in runs:
        left = sum(row["outcome"] == "not tried" for row in run["mutants"])
        text.append(f"| `{command(run)}` | {run['date']} | {run['commit']} | {left} |")
    text += ["", *(run["note"] for run in runs if "note" in run)]
    absent = collections.Counter(row["outcome"] for row in rows)
    text += ["", f"Not counted: {absent['gone']} in code that has been changed since, {absent['not in this program']} in "
             "vector loops for other processors."]
    text += ["", "Changes that no test noticed (lines as of that commit):", "",
             "| place | original | unnoticed change |", "|---|---|---|"]
    for row in sorted((r for r in rows if r["outcome"] in ("survived", "not reached")),
                      key=lambda r: (r["file"], r["line"])):
        text.append(f"| {row['file']}:{row['line']} | {cell(row['original'])} | {cell(row['mutated'])} |")
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", default=str(program.WORK / "mutants.json"))
    parser.add_argument("--again")
    parser.add_argument("--as-built", action="store_true")
    parser.add_argument("--tests", default="*")
    parser.add_argument("--report", nargs="+")
    parser.add_argument("--note", type=pathlib.Path)
    arguments = parser.parse_args()
    marked = load(program.HERE / "equivalent.json")
    if arguments.report:
        runs = [load(f) for f in arguments.report]
        print(page(runs, marked), end="")
        if arguments.note:
            write_note(arguments.note, runs, marked)
        return
    if arguments.paths and arguments.paths[-1].isdigit():  # ./dev nightly mutate PATH 40
        arguments.count = int(arguments.paths.pop())
    if not arguments.paths and not arguments.again:
        parser.error("name a folder or a file, for example: ./dev nightly mutate stages 40")
    campaign(arguments, marked)


if __name__ == "__main__":
    main()
