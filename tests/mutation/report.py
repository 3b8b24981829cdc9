"""What mutate.py measured, as a page."""
import collections

GOALS = {"stages": 95, "pipeline": 85, "recording": 85, "sources": 85, "config": 85, "ui": 70}
COUNTED = ("noticed", "survived", "not reached")


def rows_of(runs, marked):
    """Every mutant of all runs; those that the list calls equivalent say so."""
    rows = []
    for run in runs:
        for row in run["mutants"]:
            reason = next((e["reason"] for e in marked if all(e[k] == row[k] for k in ("file", "original", "mutated"))),
                          None)
            rows.append(row | ({"outcome": "equivalent", "reason": reason} if reason else {}))
    return rows


def table(runs, marked):
    rooms = collections.defaultdict(collections.Counter)
    for row in rows_of(runs, marked):
        rooms[row["file"].split("/")[0]][row["outcome"]] += 1
    lines = ["| folder | tried | noticed | survived | not reached by any test | share noticed | goal | equivalent | "
             "did not compile |",
             "|---|---|---|---|---|---|---|---|---|"]
    total = collections.Counter()
    for room in [*GOALS, *sorted(set(rooms) - set(GOALS))]:
        if room in rooms:
            total += rooms[room]
            lines.append(line(f"`{room}/`", rooms[room], f"{GOALS[room]} %" if room in GOALS else ""))
    lines.append(line("all", total, ""))
    return "\n".join(lines)


def line(name, counts, goal):
    tried = sum(counts[outcome] for outcome in COUNTED)
    share = f"{100 * counts['noticed'] / tried:.0f} %" if tried else ""
    return (f"| {name} | {tried} | {counts['noticed']} | {counts['survived']} | {counts['not reached']} | {share} | "
            f"{goal} | {counts['equivalent']} | {counts['does not compile']} |")


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
        text.append(f"| `./dev mutate {' '.join(run['paths'])} {run['count']} --seed {run['seed']}` | {run['date']} | "
                    f"{run['commit']} | {left} |")
    text += ["", *(run["note"] for run in runs if "note" in run)]
    text += ["", "What nothing noticed, and is to be tested next (lines as of that commit):", "",
             "| place | is | passes as |", "|---|---|---|"]
    for row in sorted((r for r in rows if r["outcome"] in ("survived", "not reached")),
                      key=lambda r: (r["file"], r["line"])):
        text.append(f"| {row['file']}:{row['line']} | {cell(row['original'])} | {cell(row['mutated'])} |")
    return "\n".join(text) + "\n"
