#!/usr/bin/env python3
"""Makes the n-th call of a kind fail, for n = 1, 2, 3 … until a run has no such call left: faults.py PROGRAM LIBRARY
[WHAT] [options]

WHAT is a scenario (recorder, sources, executor, settings, video, traces), a kind of call (new, malloc, open, read,
write, fsync, rename, close, thread), or both: recorder/write. Default: all. "cuda" with specklescope-cuda-faults as
PROGRAM: calls of CUDA's runtime, on a machine with a GPU; without a GPU the exit status is 77.

    --short    larger steps of n, the same in every run: a test
    --new N    allocations only, in steps of N: all of them take an hour on two processors
    --note F   writes a note for docs/reliability.md to F

After each run it checks: no signal and no hang; exit status 0, 1 or 2; one sentence per line, and at least one if the
status is not 0 or a file is damaged; every remaining file can be read and agrees with its description; the counts add
up; no half-written file; as many descriptors and heap objects as after a normal run.
"""
import argparse
import collections
import concurrent.futures
import json
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

KINDS = ["new", "malloc", "open", "read", "write", "fsync", "rename", "close", "thread"]
LASTING = ["open", "write", "fsync", "cuda"]  # a full disk stays full: these fail once, and from the n-th call on
LIMIT = 60  # seconds; a normal run takes a tenth of one
SCENE = "synthetic?width=32&height=24"

Scenario = collections.namedtuple("Scenario", "words kinds")
SCENARIOS = {
    "recorder": Scenario(["run", SCENE, "--frames", "4", "--record", "p.tiff", "--record-raw", "r.raw", "--record-raw",
                          "q.tiff", "--record-mask", "m.tiff", "--stats", "s.json", "--snapshot", "x.png"], KINDS),
    "sources": Scenario(["run", "IN/film.tiff", "--stats", "s.json", "--record-raw", "q.tiff"], KINDS),
    "raw": Scenario(["run", "IN/film.raw", "--stats", "s.json"], ["new", "open", "read"]),
    "images": Scenario(["run", "IN/pictures/", "--stage", "background:dark=file,dark_file=IN/pictures/a.png", "--stats", "s.json"],
                       ["new", "malloc", "open", "read"]),
    "executor": Scenario(["run", SCENE, "--frames", "6", "--stage", "temporal:frames=3,output=contrast2", "--stage",
                          "gaussian:sigma=3", "--stage", "flow", "--stage", "clahe", "--stats", "s.json"],
                         ["new", "thread"]),
    "settings": Scenario(["run", SCENE, "--config", "IN/settings.toml", "--trust", "--save-config", "out.toml"], KINDS),
    "video": Scenario(["run", SCENE, "--frames", "4", "--record-raw", "v.mkv", "--stats", "s.json"],
                      ["new", "open", "write", "thread"]),
    "traces": Scenario(["run", SCENE, "--frames", "4", "--regions", "IN/regions.json", "--traces", "t.csv", "--stats", "s.json"],
                       KINDS),
    "cuda": Scenario(["run", "IN/film.tiff", "--backend", "cuda", "--stage", "temporal:frames=3,output=contrast2", "--stage",
                      "gaussian:sigma=3", "--stage", "convolve:kernel=disk", "--stage", "flow", "--regions", "IN/regions.json",
                      "--traces", "t.csv", "--record", "p.tiff", "--stats", "s.json"], ["cuda"]),
}
ON_GPU = ["cuda"]


STEPS = {"new": 499, "malloc": 9, "read": 7, "open": 2, "write": 5, "close": 3, "cuda": 17}  # of the short form; 1 for other kinds
# Libraries that break without memory, which this project cannot change: nlohmann-json's destructor
# allocates, and its constructors do not undo partial work; libtiff 4.5 writes the values of a tag into
# memory that it did not get. A bad end is counted separately if one of these libraries made the failed call.
BY_LIBRARIES = ["nlohmann::", "libtiff.so"]


# config/statistics_file.cpp: if the file of --stats cannot be written, the statistics are printed.
FOLLOWS = re.compile(r"^specklescope: .* The statistics follow here\.\n", re.M)


class Broken(Exception):
    """An invariant that does not hold, and the report of the run where it is known."""

    def __init__(self, what, counted=None):
        super().__init__(what)
        self.counted = counted or {}


def expect(truth, what):
    if not truth:
        raise Broken(what)


def description(text):
    return json.loads(text[text.index("{"):])


def check_tiff(path):
    import tifffile
    with tifffile.TiffFile(path) as tiff:
        pages = len(tiff.pages)
        for page in tiff.pages:
            page.asarray() if hasattr(page, "asarray") else page.aspage().asarray()
        if pages:
            file = description(tiff.pages[0].description)
            expect(not file.get("finished") or file["written"] == pages,
                   f"{path.name} says that it is finished with {file.get('written')} frames and has {pages}")
    return pages


def check_raw(path):
    lines = (path.parent / (path.name + ".jsonl"))
    if not lines.exists():
        return path.stat().st_size // (32 * 24)
    text = lines.read_text().splitlines()
    rows = [json.loads(line) for line in text[:-1]] + ([json.loads(text[-1])] if text else [])
    return max(0, len(rows) - 1)


def check_traces(path):
    text = path.read_text()
    expect(text.endswith("\n"), f"{path.name} does not end with a line")
    rows = [line for line in text.splitlines() if not line.startswith("#")]
    expect(all(row.count(",") == rows[0].count(",") for row in rows), f"{path.name} has rows that are not whole")
    return max(0, len(rows) - 1)


def check_png(path):
    from PIL import Image
    with Image.open(path) as image:
        image.load()
    return 1


READERS = {".tiff": check_tiff, ".raw": check_raw, ".png": check_png, ".csv": check_traces}


def check_files(folder):
    """Frames of each file in the folder."""
    frames = {}
    for path in sorted(folder.iterdir()):
        if path.name in ("report", ".config"):
            continue
        expect(".part" not in path.name, f"{path.name} is left half-written")
        try:
            if path.suffix in READERS:
                frames[path.name] = READERS[path.suffix](path)
            elif path.suffix == ".json":
                check_numbers(json.loads(path.read_text()))
                frames[path.name] = 1
            elif path.suffix in (".jsonl", ".toml", ".mkv"):
                frames[path.name] = path.stat().st_size > 0
        except Broken:
            raise
        except Exception as error:  # any exception of the reader
            raise Broken(f"{path.name} cannot be read: {error}") from error
    return frames


def check_numbers(stats):
    frames, drops = stats["frames"], stats["drops"]
    expect(frames["acquired"] == frames["processed"] + drops["ring"] + drops["failed"],
           f"acquired {frames['acquired']} is not processed {frames['processed']} and dropped {drops}")


def sentences(text):
    """Lines of the output, without statistics that were printed because their file cannot be written."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text)
    told = FOLLOWS.search(plain)
    if told:
        try:
            stats, length = json.JSONDecoder().raw_decode(plain[told.end():])
        except ValueError as error:
            raise Broken(f"after '{FOLLOWS.pattern}' comes no JSON document: {error}") from None
        check_numbers(stats)
        plain = plain[:told.end()] + plain[told.end() + length:]
    return [line for line in plain.splitlines() if line.strip()]


def check_words(status, text):
    lines = sentences(text)
    expect(status != 0 or not FOLLOWS.search(text), "statistics are told in place of their file, and the status is 0")
    for line in lines:
        expect(line.startswith("specklescope: "), f"somebody else speaks: '{line}'")
        expect(not re.search(r"std::|bad_alloc|basic_string|terminate called", line), f"that is no sentence: '{line}'")
    expect(status == 0 or any(line.rstrip().endswith((".", "?")) for line in lines),
           f"it ends with status {status} and says nothing")


class Campaign:
    def __init__(self, program, library, place, names):
        self.program, self.library, self.place = program, library, place
        self.inputs = place / "in"
        self.inputs.mkdir()
        make = [SCENE, "--frames", "3", "--quiet"]
        for words in (["--record-raw", "film.tiff"], ["--record-raw", "film.raw"]):
            subprocess.run([program, "run", *make, *words], cwd=self.inputs, check=True)
        (self.inputs / "pictures").mkdir()
        for name in ("a.png", "b.png"):
            subprocess.run([program, "run", *make, "--stage", "none", "--snapshot", f"pictures/{name}"],
                           cwd=self.inputs, check=True)
        # GStreamer scans its plugins whenever HOME is new. This takes seconds and is not measured here.
        self.plugins = {"GST_REGISTRY": str(place / "plugins"), "GST_REGISTRY_UPDATE": "no"}
        if names != ON_GPU:  # these runs need no plugins
            subprocess.run([program, "run", *make, "--record-raw", "film.mkv"], cwd=self.inputs, check=True,
                           env={**os.environ, "GST_REGISTRY": self.plugins["GST_REGISTRY"]})
        (self.inputs / "regions.json").write_text(json.dumps({"regions": [
            {"name": "box", "shape": "rectangle", "points": [[3, 3], [20, 12]]},
            {"name": "disk", "shape": "ellipse", "points": [[8, 4], [28, 20]]}]}))
        (self.inputs / "settings.toml").write_text('stats = "s.json"\n[view]\ncolormap = "jet"\n[[stage]]\nname = "speckle"\n')

    def no_gpu(self):
        """Reason why there is no GPU; empty if there is one."""
        words = ["run", SCENE, "--frames", "1", "--quiet", "--backend", "cuda"]
        done = subprocess.run([self.program, *words], cwd=self.place, capture_output=True, text=True, check=False)
        return "" if done.returncode == 0 else " ".join(done.stderr.split())

    def callers(self, stack):
        """Functions on the stack of the failed call, innermost first."""
        places = [place for place in stack if place.startswith("0x")]
        done = subprocess.run(["addr2line", "-Cfe", self.program, *places], capture_output=True, text=True, check=False)
        names = dict(zip(places, done.stdout.splitlines()[::2]))
        return [names.get(place, place) for place in stack if not place.startswith("libfaults")]

    @staticmethod
    def stacks(process):
        """Stack of every thread, if a debugger is installed."""
        if not shutil.which("gdb"):
            return "install gdb to see where"
        done = subprocess.run(["gdb", "-batch", "-p", str(process), "-ex", "thread apply all bt 8"], capture_output=True,
                              text=True, check=False)
        return "\n".join(line[:150] for line in done.stdout.splitlines() if line.startswith(("#", "Thread")))

    def run(self, name, fault, backend="cuda"):
        """Returns exit status, output, report and frames of each file. The folder is removed."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.place))
        words = [backend if word == "cuda" else word.replace("IN/", str(self.inputs) + "/")
                 for word in SCENARIOS[name].words]
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config"),
                       "LD_PRELOAD": self.library, "SPECKLESCOPE_FAULT": fault,
                       "SPECKLESCOPE_FAULT_REPORT": str(folder / "report"), **self.plugins}
        try:
            with subprocess.Popen([self.program, *words], cwd=folder, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, errors="replace") as process:
                try:
                    said = process.communicate(timeout=LIMIT)[1]
                except subprocess.TimeoutExpired:
                    where = self.stacks(process.pid)
                    process.kill()
                    raise Broken(f"it hangs for {LIMIT} s: {where}") from None
            done = subprocess.CompletedProcess(words, process.returncode, "", said)
            report = folder / "report"
            counted = json.loads(report.read_text()) if report.exists() and report.stat().st_size else {}
            if done.returncode < 0:
                raise Broken(f"ended by signal {-done.returncode}: {done.stderr.splitlines()[-1:]}", counted)
            return done.returncode, done.stderr, counted, check_files(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def one(self, name, fault, well):
        """Returns the violated invariant (or None), and whether the fault happened."""
        counted = {}
        try:
            status, text, counted, frames = self.run(name, fault)
            expect(counted.get("ended"), "it left no report, so it ended by _exit")
            if counted["failed"] == 0:
                return False, None
            expect(status in (0, 1, 2), f"exit status {status}")
            check_words(status, text)
            missing = [file for file, count in well["frames"].items() if frames.get(file) != count]
            said = [line for line in sentences(text) if line not in well["lines"]]
            expect(status != 0 or not missing or said, f"status 0, not a word, and not as usual: {', '.join(missing)}")
            expect(counted["descriptors"] <= well["descriptors"],
                   f"{counted['descriptors'] - well['descriptors']} descriptors are left open")
            expect(counted["held"] <= well["held"], f"{counted['held'] - well['held']} objects are left on the heap")
            return True, None
        except Broken as broken:
            callers = self.callers((broken.counted or counted).get("stack", []))
            library = any(name in caller for caller in callers[:6] for name in BY_LIBRARIES)
            short = " < ".join(re.sub(r"\(.*", "", caller)[-60:] for caller in callers[:4])
            return True, ("LIBRARY " if library else "") + f"{broken} [{short}]"

    def well(self, name):
        """A run without a fault."""
        status, text, counted, frames = self.run(name, "new:0")
        expect(status == 0, f"{name}: fails without any fault: {text}")
        lines = {re.sub(r"\d+(\.\d+)?", "N", line) for line in sentences(text)}
        # The number of objects varies by one, depending on which threads wake.
        runs = [counted, *(self.run(name, "new:0")[2] for _ in range(3))]
        held = max(one["held"] for one in runs)
        if name in ON_GPU:  # a run that moves to the host starts oneTBB, which keeps an object until the end
            held = max(held, self.run(name, "new:0", backend="cpu")[2]["held"])
        return {"frames": frames, "lines": lines, "descriptors": max(one["descriptors"] for one in runs),
                "held": held}


def gpu():
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False).stdout
    return ", " + re.match(r"GPU \d+: (.*) \(", listed).group(1)


def until_it_passes(pool, tried, step):
    """[(n, problem or None)] for n = 1, 1 + step, … until a run ends without the fault."""
    results = []
    n = 1
    while True:
        batch = [n + i * step for i in range(2 * os.cpu_count())]
        for number, (happened, what) in zip(batch, pool.map(tried, batch)):
            if not happened:
                return results
            results.append((number, what))
        n = batch[-1] + step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("what", nargs="?", default="")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--new", type=int, default=1)
    parser.add_argument("--note", type=pathlib.Path)
    asked = parser.parse_args()
    parts = asked.what.split("/") if asked.what else []
    for part in parts:
        if part not in SCENARIOS and part not in KINDS:
            sys.exit(f"faults: there is no '{part}'; allowed: {', '.join([*SCENARIOS, *KINDS])}, or SCENARIO/KIND.")
    names = [part for part in parts if part in SCENARIOS] or [name for name in SCENARIOS if name not in ON_GPU]
    kinds = [part for part in parts if part in KINDS] or [*KINDS, *ON_GPU]
    rows, failures = [], 0
    with tempfile.TemporaryDirectory(prefix="specklescope-faults-") as place, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        campaign = Campaign(os.path.abspath(asked.program), os.path.abspath(asked.library),
                            pathlib.Path(place), names)
        for name in names:
            if name in ON_GPU and (why := campaign.no_gpu()):
                if "No CUDA device can be used" not in why:
                    sys.exit(f"faults: {name} cannot be tried: {why}")
                print(f"faults: {name}: Skipped\nno GPU: {why}\n")  # the form of GoogleTest, for tests/support/skipped.py
                sys.exit(77)
            well = campaign.well(name)
            for kind in [kind for kind in SCENARIOS[name].kinds if kind in kinds]:
                for mode in ["", "+"] if kind in LASTING else [""]:
                    step = STEPS.get(kind, 1) if asked.short else asked.new if kind == "new" else 1
                    results = until_it_passes(pool, lambda n: campaign.one(name, f"{kind}:{n}{mode}", well), step)
                    if not results:
                        continue
                    wrong = collections.defaultdict(list)
                    for n, what in results:
                        if what:
                            wrong[what].append(n)
                    library = sum(len(numbers) for what, numbers in wrong.items() if what.startswith("LIBRARY"))
                    bad = sum(map(len, wrong.values())) - library
                    failures += bad
                    print(f"faults: {name}, {kind}{' from then on' if mode else ''}: {len(results)} failed calls, {bad} did "
                          "harm" + (f", {library} ended in a library" if library else ""), flush=True)
                    for what, numbers in wrong.items():
                        if not what.startswith("LIBRARY"):
                            print(f"    {what}\n        {kind}:n{mode}, n = {', '.join(map(str, numbers[:12]))}"
                                  f"{' …' if len(numbers) > 12 else ''}", flush=True)
                    rows.append({"what": f"{name}, {kind}{', from then on' if mode else ''}", "tries": len(results),
                                 "failures": bad, "ended in a library": library})
    if asked.note:
        campaign = "cuda-faults" if set(names) <= set(ON_GPU) else "faults"
        command = ["./dev nightly faults", *[asked.what] * bool(asked.what), *["--short"] * asked.short, *[f"--new {asked.new}"] * (asked.new > 1)]
        reliability.note(asked.note, campaign, " ".join(command), rows, gpu() if campaign == "cuda-faults" else "")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
