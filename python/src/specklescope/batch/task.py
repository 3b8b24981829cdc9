"""One recording on a worker: `specklescope run` into a temporary folder, which is renamed when it is complete."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from .plan import RECORD, WHOLE_IMAGE, Task

Row = dict[str, Any]
HIDDEN = ".part-"  # folders of results that are not complete
# After other signals, as of Ctrl-C or of Slurm, `run` would finish its files early, and they would look complete.
ENDS_WITH_WORKER = ("setpriv", "--pdeathsig", "KILL", "env", "--block-signal=INT,TERM,HUP,QUIT,USR1,USR2,ALRM,XCPU")


class TaskError(Exception):
    """A recording failed. The message is the sentence of the program."""

    def __init__(self, sentence: str, worker: str = "", repeat: bool = True) -> None:
        super().__init__(sentence, worker, repeat)  # as pickle needs it
        self.sentence, self.worker, self.repeat = sentence, worker, repeat


@cache
def program() -> str:
    """The program of this computer: $SPECKLESCOPE, or of the search path."""
    found = os.environ.get("SPECKLESCOPE") or shutil.which("specklescope")
    if not found:
        raise TaskError("The program specklescope is not found. Install it, or set SPECKLESCOPE to its path.")
    return found


@cache
def version() -> str:
    """Version and commit of the program."""
    text = subprocess.run([program(), "--version"], capture_output=True, text=True, check=True).stdout
    return " ".join(" ".join(text.splitlines()[:2]).split())


def worker_here() -> tuple[str, int]:
    """Address of this worker and its memory limit in bytes, 0 for none."""
    from distributed import get_worker
    worker = get_worker()
    return str(worker.address), int(worker.memory_manager.memory_limit or 0)


def run_task(task: Task, attempt: int, threads: int, memory: int) -> Any:
    """The record of the complete results, as in batch.json. Throws TaskError without leaving anything but a log. memory: limit
    of the program in bytes; 0: the limit of the worker."""
    worker, limit = worker_here()
    memory = memory or limit
    target = Path(task.folder)
    try:
        if version() != task.hashes["version"]:
            raise TaskError(f"The worker has {version()}, and the study is run with {task.hashes['version']}. Install the same.")
        if not task.reason():  # completed shortly before its worker or the scheduler was killed
            return task.record()
        made = hidden(target)
    except (OSError, TaskError) as error:
        raise TaskError(getattr(error, "sentence", str(error)), worker) from None
    try:
        record = into_folder(task, made, attempt, threads, memory)
        (made / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        replace_folder(made, target)
        failure_log(task).unlink(missing_ok=True)
        return record
    except TaskError as error:
        if (made / "run.log").exists():
            shutil.move(made / "run.log", failure_log(task))
        raise TaskError(error.sentence.replace(str(made), task.folder), worker, error.repeat) from None
    except OSError as error:
        raise TaskError(f"{error.strerror}: {error.filename or task.folder}.".replace(str(made), task.folder), worker) from None
    finally:
        shutil.rmtree(made, ignore_errors=True)


def hidden(target: Path) -> Path:
    """A new folder next to the target."""
    folder = target.parent / f"{HIDDEN}{target.name}.{uuid.uuid4().hex}"
    folder.mkdir()
    return folder


def failure_log(task: Task) -> Path:
    return Path(f"{task.folder}.failed.log")


def replace_folder(made: Path, target: Path) -> None:
    """An interruption between the two renames leaves no results, and the recording runs again."""
    if target.exists():
        old = hidden(target)
        os.rename(target, old / "old")
        os.rename(made, target)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.rename(made, target)


def into_folder(task: Task, folder: Path, attempt: int, threads: int, memory: int) -> Row:
    regions = task.regions
    if not regions:
        regions = str(folder / "regions.json")
        Path(regions).write_text(WHOLE_IMAGE, encoding="utf-8")
    at = {name: str(folder / name) for name in ("mean.tiff", "mean.png", "traces.csv", "statistics.json", "report.pdf")}
    words = [program(), "run", task.source, *task.options, "--threads", str(threads), "--regions", regions, "--mean", at["mean.tiff"],
             "--mean", at["mean.png"], "--traces", at["traces.csv"], "--stats", at["statistics.json"]]
    words += ["--record", str(folder / "maps.tiff"), "--record-every", str(task.maps)] if task.maps else []
    words += ["--report", at["report.pdf"]] if task.report else []
    words += ["--log", "quiet"] if attempt else []  # the repetition prints nothing but the error
    limit = ["prlimit", f"--data={memory}"] if memory and "cuda" not in task.options else []
    begin = time.monotonic()
    with tempfile.TemporaryFile() as log:  # not in the folder, whose disk may become full
        process = subprocess.Popen([*ENDS_WITH_WORKER, *limit, *words], cwd=task.place, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        log.seek(0)
        text = log.read().decode(errors="replace")
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - begin
    with suppress(OSError):
        (folder / "run.log").write_text(text, encoding="utf-8")
    if process.returncode:
        raise TaskError(sentence_of(text, process.returncode, memory), repeat=process.returncode != 2)
    if not task.regions:
        os.unlink(regions)
    if task.events:
        add_events(folder / "traces.csv", task.events)
    return {"name": task.name, "source": task.source, "hashes": task.hashes, "options": list(task.options), "attempt": attempt,
            "seconds": round(seconds, 3), "processor_s": round(used.ru_utime + used.ru_stime, 3),
            "memory_mib": round(used.ru_maxrss / 1024), "regions": summaries(folder),
            "files": {file.name: file.stat().st_size for file in sorted(folder.iterdir())}}


def sentence_of(log: str, status: int, memory: int) -> str:
    """Why a run failed: the last error of the program, or the last line of a script that starts it."""
    if status < 0:
        limit = f" Its memory limit was {memory >> 20} MiB; --memory changes it." if memory else ""
        return f"The program was ended by signal {-status}.{limit}"
    lines = [line for line in log.splitlines() if line.strip()]
    if own := [line.removeprefix("specklescope: ") for line in lines if line.startswith("specklescope: ")]:
        return own[-1]
    return f"The program ended with exit status {status}{': ' + lines[-1] if lines else '.'}"


def table_of(traces: Path) -> Iterator[Row]:
    with open(traces, encoding="utf-8", newline="") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def add_events(traces: Path, events: str) -> None:
    """Appends the events as the window would store them. Columns of the file: label, and frame or time_s."""
    frames: dict[str, Row] = {}
    for row in table_of(traces):
        frames.setdefault(row["sequence"], row)
    seen = list(frames.values())
    if not seen:
        return
    first = float(seen[0]["capture_s"] or "nan")
    with open(events, encoding="utf-8-sig", newline="") as file, open(traces, "a", encoding="utf-8") as table:
        for number, event in enumerate(csv.DictReader(file), 1):
            try:
                label = " ".join((event["label"] or "").split())
                if event.get("frame"):
                    wanted = int(event["frame"])
                    row = next(row for row in seen if int(row["position"] or row["sequence"]) == wanted)
                else:
                    wanted_s = float(event["time_s"])
                    row = min(seen, key=lambda row: abs(float(row["capture_s"]) - first - wanted_s))
            except (KeyError, TypeError, ValueError, StopIteration):
                raise TaskError(f"Event {number} of {events} is not in the recording. Its columns are label, and frame or "
                                "time_s from the first frame.", repeat=False) from None
            table.write(f"# event: {number},{row['sequence']},{row['capture_s']},{label}\n")


def summaries(folder: Path) -> list[Row]:
    """A row for each region: its trace over the frames without warm-up. The mean over time is taken on K², as the mean over
    the region is (docs/science.md, Traces and their baseline)."""
    whole = json.loads((folder / "statistics.json").read_text(encoding="utf-8"))
    law = ""
    with open(folder / "traces.csv", encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                break
            if re.match(r"# version \d+, mean: ", line):
                law = "flow" if "1/⟨" in line else "contrast" if "root" in line else ""
    regions: dict[str, dict[str, list[float]]] = {}
    for row in table_of(folder / "traces.csv"):
        region = regions.setdefault(row["region"], {"mean": [], "time": [], "saturated": [], "pixels": []})
        if row["warming_up"] != "1":
            region["mean"].append(float(row["mean"]))
            region["time"].append(float(row["capture_s"] or "nan"))
            region["saturated"].append(float(row["saturated"] or 0))
            region["pixels"].append(float(row["pixels"] or 0))
    return [summary(name, region, law, whole) for name, region in regions.items()]


def summary(name: str, region: dict[str, list[float]], law: str, whole: Row) -> Row:
    values = [value for value in region["mean"] if not math.isnan(value)]
    finite = [value for value in values if math.isfinite(value)]
    plain = math.fsum(finite) / len(finite) if finite else None
    if law == "flow":  # an infinite index is K² = 0 and counts
        inverse = math.fsum(1 / value for value in values if value)
        mean = len(values) / inverse if inverse else None
    else:
        mean = math.sqrt(math.fsum(value * value for value in finite) / len(finite)) if finite and law == "contrast" else plain
    std = math.sqrt(math.fsum((value - plain) ** 2 for value in finite) / (len(finite) - 1)) if plain is not None and len(finite) > 1 else None
    times, pixels = region["time"], math.fsum(region["pixels"])
    seconds = times[-1] - times[0] if times else math.nan
    return {"region": name, "quantity": whole["quantity"]["name"], "unit": whole["quantity"]["unit"], "frames": len(values),
            "seconds": seconds if math.isfinite(seconds) else None, "mean": mean, "std": std, "min": min(finite, default=None),
            "max": max(finite, default=None), "median": statistics.median(finite) if finite else None,
            "saturated_percent": 100 * math.fsum(region["saturated"]) / pixels if pixels else None,
            "dropped": whole["drops"]["total"], "exposure_ms": whole["exposure_used_ms"],
            "exposure_origin": whole["exposure_origin"]}
