"""What mutate.py measured, as a page."""
import collections
import pathlib
import sys

GOALS = {"stages": 95, "pipeline": 85, "recording": 85, "sources": 85, "config": 85, "ui": 70}
COUNTED = ("noticed", "survived", "not reached")


def same(a, b):
    """The same change, by its text; by its line's too where the list of the equivalent ones names it ("at")."""
    return all(a[key] == b[key] for key in ("file", "original", "mutated")) and \
        ("reason" not in a or "at" not in a or a["at"] == b.get("at"))


def rows_of(runs, marked):
    """Every mutant of all runs, once; those that nothing noticed and the list calls equivalent say so."""
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
    return f"./dev mutate {' '.join(run['paths'])} {run['count']} --seed {run['seed']}"


def note(file, runs, marked):
    """The table as a note for docs/reliability.md."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
    import reliability
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
            "Written by `tests/mutation/mutate.py --report` from `docs/mutation/*.json`. Each row of the table is a number of",
            "small wrong changes — an operator, a constant, a condition, swapped arguments, a statement left out — tried one",
            "at a time; *noticed* means that a test failed twice, crashed or ran ten times as long. Changes that do not compile",
            "are not counted, nor those that make no difference (listed with the reason in `tests/mutation/equivalent.json`).",
            "", table(runs, marked), "", "| measured with | date | commit | changes not tried |", "|---|---|---|---|"]
    for run in runs:
        left = sum(row["outcome"] == "not tried" for row in run["mutants"])
        text.append(f"| `{command(run)}` | {run['date']} | {run['commit']} | {left} |")
    text += ["", *(run["note"] for run in runs if "note" in run)]
    absent = collections.Counter(row["outcome"] for row in rows)
    text += ["", f"Not counted either: {absent['gone']} in code that has been changed since, {absent['not in this program']} in "
             "vector loops for other processors."]
    text += ["", "What nothing noticed, and is to be tested next (lines as of that commit):", "",
             "| place | is | passes as |", "|---|---|---|"]
    for row in sorted((r for r in rows if r["outcome"] in ("survived", "not reached")),
                      key=lambda r: (r["file"], r["line"])):
        text.append(f"| {row['file']}:{row['line']} | {cell(row['original'])} | {cell(row['mutated'])} |")
    return "\n".join(text) + "\n"
