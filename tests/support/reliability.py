#!/usr/bin/env python3
"""docs/reliability.md from what campaigns noted: reliability.py NOTES… > docs/reliability.md

A note is a JSON file of one campaign: its command, date, commit, machine and rows; the columns are the keys of a row.
"""
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

HEAD = """# Reliability

What was tried to break the program, how often, and how often it broke. Made by `./dev reliability` from
[reliability/](reliability/), which the campaigns write themselves with `--note`; nothing here is typed by hand. What
broke was mended before the row was written again, and what broke it stays: inputs in `tests/corpus/`, cases in the
tests. A failure in a table is one that is open.
"""

ABOUT = {
    "fuzz": ("Parsers", "libFuzzer with the address and undefined-behaviour sanitizers, at most 20 KiB an input and "
             "512 MiB an allocation. Each target also holds an identity: read in parts is read at once, printed and "
             "read again is the same. Edges are those of the parser's own files, reached by corpus and run together."),
    "faults": ("Failure injection", "The n-th call of a kind fails, n = 1, 2, 3 … until a run passes without (--short and --new N take "
               "greater steps between what has many calls); after each: "
               "no crash, one sentence, exit status 1 or 2, files that can be read, counts that add up."),
    "cuda-faults": ("Failing CUDA calls", "The same with the calls of CUDA's runtime, in a program linked against stand-ins for "
                    "them: a device that fails moves the run to the host, once, with a sentence."),
    "interrupt": ("Ctrl-C", "Ctrl-C at moments spread over each long preparation and the frame behind it; time to the end of the "
                  "process. Preparations end at once; a frame in work is finished, since it may be recorded, so a failure "
                  "is an end later than 0.2 s and the time of a frame. What does not fit is to be refused within 2 s. Not among them: GStreamer's first look at its plugins, "
                  "once after it was installed, which nothing interrupts."),
    "kill": ("kill -9", "Four recorders at once, 640×480 at 60 frames/s, killed at random moments: each file opens, and has every "
             "frame that had been taken a second before the end and was not counted as dropped."),
    "soak": ("Soak", "Every recorder, sources that are opened again and edits all the while."),
    "hardening": ("Hardening", "What is packaged is built with `-D_FORTIFY_SOURCE=3`, stack protector and clash protection, "
                  "RELRO, BIND_NOW, PIE and `-fcf-protection` (`packaging/hardened PROGRAM` looks whether it is). Processor "
                  "time of the same work, the least of 7 turns."),
    "mutation": ("Tests that notice", "Small wrong changes to the sources, one at a time; what nothing noticed is listed in "
                 "[mutation.md](mutation.md)."),
    "sanitizers": ("Sanitizers", "Whole test programs under AddressSanitizer with UndefinedBehaviorSanitizer and under "
                   "ThreadSanitizer (a report ends a test), and device tests under compute-sanitizer: there tries are tests and "
                   "failures the tool's reports. Tests that need a GPU count only there."),
    "monkey": ("Monkey", "Random keys, clicks, drags and sizes in the window, from a seed."),
}


# What is tried is the program, so the commit is the last one that changed it, and not one of tests or pages.
TRIED = [".", ":!tests", ":!docs", ":!*.md", ":!dev"]


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False).stdout.strip()


def commit_tried():
    return git("log", "-1", "--format=%h", "--", *TRIED) + ("-dirty" if git("status", "--porcelain", "--", *TRIED) else "")


def note(path, campaign, command, rows, where="", commit=""):
    """Writes what a campaign tried; `rows` are dictionaries with the same keys, `where` is added to the machine."""
    today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    text = json.dumps({"campaign": campaign, "command": command, "date": today, "commit": commit or commit_tried(),
                       "machine": f"{platform.machine()}, {os.cpu_count()} processors{where}", "rows": rows}, indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def number(value):
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else str(value)


def page(notes):
    text = HEAD
    missing = [name for name in ABOUT if name not in {one["campaign"] for one in notes}]
    if missing:
        text += "\nOf these campaigns no run is noted yet: " + ", ".join(missing) + ".\n"
    for one in notes:
        title, about = ABOUT.get(one["campaign"], (one["campaign"].capitalize(), one.get("about", "")))
        text += f"\n## {title}\n\n{about}\n\n`{one['command']}` — {one['date']}, commit {one['commit']}, {one['machine']}\n\n"
        columns = list(one["rows"][0])
        text += "| " + " | ".join(columns) + " |\n"
        text += "|" + "|".join("---" if column == "what" else "---:" for column in columns) + "|\n"
        for row in one["rows"]:
            text += "| " + " | ".join(number(row.get(column, "")) for column in columns) + " |\n"
    return text


if __name__ == "__main__":
    sys.stdout.write(page([json.loads(pathlib.Path(name).read_text()) for name in sys.argv[1:]]))
