#!/usr/bin/env python3
"""Notes of campaigns, the page made from them, and the three campaigns that only start programs:

  reliability.py page NOTE…                            print docs/reliability.md
  reliability.py soak PROGRAM MINUTES [--seed S]       run tests/soak/soak.cpp
  reliability.py kill RECORDING_TESTS [MOMENTS]        run Killed.FiveRecordersLoseAtMostTheLastSecond
  reliability.py hardening PLAIN HARDENED [--turns N]  compare the processor time of two programs

--note FILE writes a note: the command, date, commit and machine of a campaign, and one row for each thing tried. The
columns of a table are the keys of its rows.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import resource
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]

HEAD = """# Reliability

This page lists the attempts to break the program, their number, and the failures. `./dev nightly reliability` makes it from
[reliability/](reliability/), which the campaigns write with `--note`; nothing is typed by hand. Defects that a campaign found were fixed
before it was run again, and their inputs stay in `tests/corpus/` and in the tests. A failure in a table is still open.
"""

ABOUT = {
    "fuzz": ("Parsers", "libFuzzer with the address and undefined-behaviour sanitizers; inputs of at most 20 KiB, allocations of at "
             "most 512 MiB. Each target also checks an identity: reading in parts equals reading at once, and printed text reads "
             "back the same. Edges are the parser's own, reached by corpus and run together."),
    "faults": ("Failure injection", "The n-th call of a kind (allocation, open, read, write, fsync, rename, close, thread start) "
               "fails, for n = 1, 2, 3 … until a run has no such call left; `--short` and `--new N` take larger steps. Each run must not "
               "crash, must print one error, end with status 1 or 2, leave readable files, and count every frame. A row is one "
               "program with all kinds of calls."),
    "cuda-faults": ("Failing CUDA calls", "Calls of the CUDA runtime fail, through replacements of its functions: after a device error the run continues on the host, with one message."),
    "interrupt": ("Ctrl-C", "Ctrl-C at moments spread over each long preparation and the first frame; time until the process ends. "
                  "Preparations stop at once; a frame in work is finished because it may be recorded. A failure is an end "
                  "later than 0.2 s plus the time of a frame. Input that is too large must be refused within 2 s. Not covered: "
                  "GStreamer's first scan of its plugins after installation, which nothing interrupts."),
    "kill": ("kill -9", "Four recorders at once, 640×480 at 60 frames/s, killed at random moments. Each file must open and hold every "
             "frame accepted a second before the end that was not counted as dropped."),
    "soak": ("Soak", "All recorders, with constant edits and sources that are reopened."),
    "hardening": ("Hardening", "Packages are built with `-D_FORTIFY_SOURCE=3`, stack protector and clash protection, RELRO, BIND_NOW, "
                  "PIE and `-fcf-protection` (`packaging/hardened PROGRAM` checks it). Processor time of the same work, the least "
                  "of 7 runs."),
    "mutation": ("Tests that notice", "Small wrong changes to the sources, one at a time. [mutation.md](mutation.md) lists those that "
                 "no test noticed."),
    "sanitizers": ("Sanitizers", "Test programs under AddressSanitizer with UndefinedBehaviorSanitizer and under ThreadSanitizer (a "
                   "report ends a test), and device tests under compute-sanitizer (tries are tests, failures are reports). Tests "
                   "that need a GPU count only there."),
    "monkey": ("Monkey", "Random keys, clicks, drags and sizes in the window, from a seed."),
}


# The program is tested, so the commit is the last one that changed it, not tests or pages.
TRIED = [".", ":!tests", ":!docs", ":!*.md", ":!dev"]


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False).stdout.strip()


def commit_tried():
    return git("log", "-1", "--format=%h", "--", *TRIED) + ("-dirty" if git("status", "--porcelain", "--", *TRIED) else "")


def compact(data):
    """JSON with one line for each row of a list."""
    def text(value):
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return "[\n  " + ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in value) + "\n ]"
        return json.dumps(value, ensure_ascii=False)
    return "{\n " + ",\n ".join(f"{json.dumps(key)}: {text(value)}" for key, value in data.items()) + "\n}\n"


def note(path, campaign, command, rows, where="", commit=""):
    """Writes the note of a campaign, if a path is given; `where` is added to the machine."""
    if not path:
        return
    today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(compact({"campaign": campaign, "command": command, "date": today, "commit": commit or commit_tried(),
                             "machine": f"{platform.machine()}, {os.cpu_count()} processors{where}", "rows": rows}))


def number(value):
    return f"{value:,}" if isinstance(value, int) else str(value)


def by_program(rows):
    """One row for each program of failure injection; a row with a failure stays as it is."""
    sums, open_rows = {}, []
    for row in rows:
        if row["failures"]:
            open_rows.append(row)
            continue
        total = sums.setdefault(row["what"].split(",")[0], dict.fromkeys(row, 0))
        for column in row:
            total[column] += row[column] if column != "what" else 0
    return [{**total, "what": program} for program, total in sums.items()] + open_rows


def anchor(title):
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def page(notes):
    text = HEAD
    missing = [name for name in ABOUT if name not in {one["campaign"] for one in notes}]
    if missing:
        text += "\nCampaigns without a noted run: " + ", ".join(missing) + ".\n"
    titles = [ABOUT.get(one["campaign"], (one["campaign"].capitalize(), one.get("about", ""))) for one in notes]
    text += "\n" + "".join(f"- [{title}](#{anchor(title)})\n" for title, _ in titles)
    for one, (title, about) in zip(notes, titles):
        rows = by_program(one["rows"]) if "faults" in one["campaign"] else one["rows"]
        text += f"\n## {title}\n\n{textwrap.fill(about, 120, break_on_hyphens=False)}\n\n`{one['command']}` — {one['date']}, commit {one['commit']}, {one['machine']}\n\n"
        # Omit a column that repeats the previous one in every row.
        columns = [column for column, before in zip(rows[0], [None, *rows[0]])
                   if not before or any(row.get(column) != row.get(before) for row in rows)]
        text += "| " + " | ".join(columns) + " |\n"
        text += "|" + "|".join("---" if column == "what" else "---:" for column in columns) + "|\n"
        for row in rows:
            text += "| " + " | ".join(number(row.get(column, "")) for column in columns) + " |\n"
    return text


def soak(asked):
    """The program does the work and judges it; its last line is a row."""
    done = subprocess.run([asked.program, f"minutes={asked.minutes}", f"seed={asked.seed}"], capture_output=True, text=True,
                          check=False)
    sys.stdout.write(done.stdout)
    sys.stderr.write(done.stderr)
    counted = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
    if counted.startswith("{"):
        row = json.loads(counted)
        failures = row.pop("failures")
        note(asked.note, "soak", f"./dev nightly soak {asked.minutes:g}",
             [{"what": f"seed {asked.seed}, {asked.minutes:g} minutes", "tries": row.pop("rounds"), "failures": failures, **row}])
    return 1 if done.returncode else 0


KILLED = re.compile(r"^(\S+): (\d+) frames, newest (-?[\d.]+) s before the last word; (\d+) of (\d+) dropped$", re.M)


def kill(asked):
    """Counts the lines that the test prints for each file."""
    done = subprocess.run([pathlib.Path(asked.program).resolve(), "--gtest_filter=Killed.FiveRecorders*"], text=True, errors="replace",
                          env=os.environ | {"SPECKLESCOPE_KILLS": str(asked.moments)}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    print(done.stdout)
    said = KILLED.findall(done.stdout)
    # Each failure names its file; an abort of the test names none.
    broken = re.findall(r"^(\S+)(?:: of \d+ frames| does not open|: not in order)", done.stdout, re.M)
    if done.returncode and not broken:
        return done.returncode
    rows = []
    for name in dict.fromkeys(row[0] for row in said):
        mine = [row for row in said if row[0] == name]
        rows.append({"what": name, "tries": asked.moments, "failures": broken.count(name),
                     "frames kept": sum(int(row[1]) for row in mine),
                     "oldest of the newest kept, s before the end": f"{max(float(row[2]) for row in mine):.2f}",
                     "dropped, counted": sum(int(row[3]) for row in mine)})
    note(asked.note, "kill", f"./dev nightly kill {asked.moments}", rows)
    return done.returncode


# Compares the minimum processor time of each program, which other load affects little.
SCENE = "synthetic?width=1392&height=1040&live=false"
WORK = {
    "start": ["--version"],
    "speckle, 1392×1040, 100 frames": ["run", SCENE, "--frames", "100", "--stage", "speckle", "--threads", "1"],
    "temporal and Gaussian, 100 frames": ["run", SCENE, "--frames", "100", "--stage", "temporal", "--stage",
                                          "gaussian:sigma=4", "--threads", "1"],
    "recorded as TIFF, 100 frames": ["run", SCENE, "--frames", "100", "--stage", "none", "--record-raw", "r.tiff"],
}


def seconds(program, words):
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, *words, *(["--quiet"] if words[0] == "run" else [])], cwd=folder, capture_output=True,
                       check=True, env={**os.environ, "XDG_CONFIG_HOME": folder})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def hardening(asked):
    rows = []
    for what, words in WORK.items():
        least = {}
        for _ in range(asked.turns):
            for name in ("plain", "hardened"):
                took = seconds(os.path.abspath(getattr(asked, name)), words)
                least[name] = min(took, least.get(name, took))
        cost = 100 * (least["hardened"] / least["plain"] - 1)
        print(f"hardening: {what}: {least['plain']:.3f} s, hardened {least['hardened']:.3f} s of processor time, {cost:+.1f} %")
        rows.append({"what": what, "plain, s": f"{least['plain']:.3f}", "hardened, s": f"{least['hardened']:.3f}",
                     "cost": f"{cost:+.1f} %"})
    note(asked.note, "hardening", f"tests/support/reliability.py hardening {asked.plain} {asked.hardened} --turns {asked.turns}",
         rows)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)

    def command(name, run, *words):
        made = commands.add_parser(name)
        made.set_defaults(run=run)
        for word, more in words:
            made.add_argument(word, **more)
        made.add_argument("--note", type=pathlib.Path)

    def print_page(asked):
        sys.stdout.write(page([json.loads(pathlib.Path(name).read_text()) for name in asked.notes]))

    command("page", print_page, ("notes", {"nargs": "+"}))
    command("soak", soak, ("program", {}), ("minutes", {"type": float}), ("--seed", {"type": int, "default": 1}))
    command("kill", kill, ("program", {}), ("moments", {"type": int, "nargs": "?", "default": 50}))
    command("hardening", hardening, ("plain", {}), ("hardened", {}), ("--turns", {"type": int, "default": 7}))
    asked = parser.parse_args()
    sys.exit(asked.run(asked))


if __name__ == "__main__":
    main()
