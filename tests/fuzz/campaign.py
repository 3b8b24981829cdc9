#!/usr/bin/env python3
"""Replays the corpora of the fuzz targets, or fuzzes them: campaign.py BUILD [TARGET] [SECONDS] [--grow] [--note FILE]

Without SECONDS every file of tests/corpus/TARGET is run once, as a test. With SECONDS each target is fuzzed for that
time, one target per processor, from the printed seed (or SPECKLESCOPE_SEED). Failing inputs are kept in BUILD/found; add
them to the corpus with their fix.

    --grow   adds new inputs to the corpus, minimised
    --note   writes tries and coverage of the parser to FILE, a note for docs/reliability.md
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import reliability  # noqa: E402

LONGEST = 20480  # bytes of an input
LONGER = {"film": 72_000}  # headers of .rls have 30 KiB, of .mlf 64 KiB
MEMORY = 1024  # MiB that a target may use
ALLOCATION = 512  # MiB that it may allocate at once
SLOW = 10           # seconds for one input


def run(program, *arguments):
    """The program's output and exit status. Leaks, overflows and undefined behaviour end the program."""
    environment = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1",
                       ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1",
                       LSAN_OPTIONS=f"suppressions={ROOT}/tests/sanitizers/lsan.supp:print_suppressions=0")
    with tempfile.TemporaryDirectory() as empty:  # results must not depend on the current folder
        done = subprocess.run([program, *arguments], capture_output=True, text=True, errors="replace", env=environment,
                              cwd=empty, check=False)
    return done.returncode, done.stderr + done.stdout


def declared_words(build):
    """A dictionary of all names in the manual: stages, keys, choices."""
    manual = (ROOT / "docs/manual.md").read_text()
    words = {word for text in re.findall(r"`([^`\n]+)`", manual) for word in (text, text + "=")}
    for allowed in re.findall(r"^\| `[^|]*\|[^|]*\| ([^|]*) \|", manual, re.M):
        words.update(re.findall(r"[a-z_0-9]+", allowed))
    path = build / "manual.dict"
    kept = sorted(word for word in words if len(word) < 40 and word.isascii())
    path.write_text("".join('"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"\n' for word in kept))
    return path


class Target:
    def __init__(self, build, name):
        self.name = name
        self.program = str(build / "tests/fuzz" / f"{name}_fuzz")
        if not os.path.exists(self.program):
            self.program = str(build / f"{name}_fuzz")
        self.corpus = ROOT / "tests/corpus" / name
        self.found = build / "found" / name
        self.found.mkdir(parents=True, exist_ok=True)
        self.common = [f"-rss_limit_mb={MEMORY}", f"-malloc_limit_mb={ALLOCATION}", f"-timeout={SLOW}",
                       f"-max_len={LONGER.get(name, LONGEST)}", f"-artifact_prefix={self.found}/"]
        words = self.corpus.with_suffix(".dict")
        if not words.exists():
            words = declared_words(build)
        self.words = [f"-dict={words}"]

    def files(self):
        return sorted(str(path) for path in self.corpus.iterdir()) if self.corpus.is_dir() else []

    def replay(self):
        files = self.files()
        status, text = run(self.program, *self.common, *files) if files else (1, "the corpus is empty")
        return len(files), status, text

    def fuzz(self, seconds, seed, grow, measure):
        with tempfile.TemporaryDirectory() as new:
            status, text = run(self.program, *self.common, *self.words, f"-max_total_time={seconds}", f"-seed={seed}",
                               "-print_final_stats=1", "-use_value_profile=1", new, str(self.corpus))
            tries = re.search(r"number_of_executed_units:\s*(\d+)", text)
            covered, edges = self.coverage(new) if measure else (0, 0)
            if grow:
                self.grow(new)
        return int(tries[1]) if tries else 0, status, text, covered, edges

    def coverage(self, *more):
        """Edges reached and existing, of the functions in the target's parser files."""
        source = (ROOT / "tests/fuzz" / f"{self.name}_fuzz.cpp").read_text()
        parser = " ".join(re.findall(r"^// Parser: (.*)$", source, re.M)).split()
        _, text = run(self.program, *self.common, "-runs=0", "-print_coverage=1", str(self.corpus), *map(str, more))
        covered = edges = 0
        # COVERED_FUNC: hits: 6 edges: 4/7 specklescope::f() /…/files/npy_file.cpp:38
        for reached, there, place in re.findall(r"COVERED_FUNC:.* edges: (\d+)/(\d+) .* (\S+):\d+$", text, re.M):
            if any(place.endswith("/" + file) for file in parser):
                covered += int(reached)
                edges += int(there)
        return covered, edges

    def grow(self, new):
        """The smallest set of small files with the coverage of the corpus and the new files together."""
        with tempfile.TemporaryDirectory() as merged:
            run(self.program, *self.common, "-merge=1", merged, str(self.corpus), str(new))
            kept = [path for path in self.corpus.iterdir() if path.name.startswith("found-")]
            for path in self.corpus.iterdir():
                if path not in kept:
                    path.unlink()
            for path in pathlib.Path(merged).iterdir():
                shutil.copy(path, self.corpus / path.name[:16])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("words", nargs="*", help="TARGET, SECONDS")
    parser.add_argument("--grow", action="store_true")
    parser.add_argument("--note", type=pathlib.Path)
    asked = parser.parse_args()
    names = sorted(path.name[:-len("_fuzz.cpp")] for path in (ROOT / "tests/fuzz").glob("*_fuzz.cpp"))
    chosen = [word for word in asked.words if not word.isdigit()]
    seconds = next((int(word) for word in asked.words if word.isdigit()), 0)
    for name in chosen:
        if name not in names:
            sys.exit(f"fuzz: there is no target '{name}'; allowed: {', '.join(names)}.")
    seed = int(os.environ.get("SPECKLESCOPE_SEED", "1"))
    targets = [Target(asked.build.resolve(), name) for name in chosen or names]
    failed = False
    rows = []

    def work(target):
        files, status, text = target.replay()
        said = f"{target.name}: {files} files replayed"
        row = {"what": target.name, "tries": files, "failures": int(status != 0)}
        if status == 0 and seconds:
            tries, status, text, covered, edges = target.fuzz(seconds, seed, asked.grow, bool(asked.note))
            share = f"{100 * covered // edges} %" if edges else "unknown"
            said += f", {tries} inputs in {seconds} s from seed {seed}"
            row = {"what": target.name, "tries": files + tries, "failures": int(status != 0),
                   "corpus": len(target.files()), "edges": f"{covered} of {edges} ({share})"}
        return said, status, text, row

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for target, (said, status, text, row) in zip(targets, pool.map(work, targets)):
            print(f"fuzz: {said}", flush=True)
            rows.append(row)
            if status != 0:
                failed = True
                print(text[-6000:], file=sys.stderr)
                print(f"fuzz: {target.name} FAILED; the input is in {target.found}, and is run again by "
                      f"{target.program} FILE", file=sys.stderr)
    reliability.note(asked.note, "fuzz", " ".join(["./dev nightly fuzz", *asked.words]), rows)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
