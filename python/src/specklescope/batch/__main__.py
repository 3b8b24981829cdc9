"""``python -m specklescope.batch``, which `specklescope batch` runs."""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .plan import RECORD, PlanError, Task, tasks_of
from .task import HIDDEN, Row, TaskError, version

EXAMPLE = """examples:
  specklescope batch 'data/*/raw.tiff' --config study.toml --out results
  specklescope batch study.csv --config study.toml --out results --dry-run
  specklescope batch data --config study.toml --out results --scheduler tcp://server:8786 -- --um-per-px 2.5

A table (.csv) has the column recording and, as wanted, name, config, regions, events, subject, options and others such
as group, which become columns of the study table. Everything after -- is passed to specklescope run."""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("specklescope batch", epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter,
                                   description="Process the recordings of a study, and repeat only what changed.")
    add = made.add_argument
    add("recordings", nargs="+", metavar="RECORDINGS", help="files, folders, quoted patterns, lists (.txt) or tables (.csv)")
    add("--out", required=True, type=Path, metavar="DIR", help="folder of the results")
    add("--config", default="", metavar="FILE", help="settings of all recordings, saved by the window or --save-config")
    add("--regions", default="", metavar="FILE", help="regions of all recordings; without it the whole image")
    add("--maps", type=int, default=0, metavar="N", help="also store the map of one of N frames (1: all), next to the mean")
    add("--no-report", action="store_true", help="write no PDF")
    add("--force", action="store_true", help="run recordings whose results are up to date, too")
    add("--dry-run", action="store_true", help="print what would run and why")
    add("--scheduler", default="local", metavar="ADDRESS", help="Dask scheduler, tcp://HOST:PORT; default: local processes")
    add("--workers", type=int, default=0, metavar="N", help="local worker processes; default: one for each core or GPU")
    add("--threads", type=int, default=0, metavar="N", help="threads of each run; default: 1, with --gpus 4")
    add("--memory", type=float, default=0, metavar="GIB", help="memory of each run; default: an equal share of 90 %%, or the limit of the remote worker")
    add("--gpus", action="store_true", help="compute on NVIDIA GPUs, one recording at a time on each")
    return made


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Only one study at a time writes into a folder. The system releases the lock also after a crash."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise PlanError(f"{out} is not a folder. Choose another one with --out.") from None
    with open(out / ".lock", "a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise PlanError(f"The folder {out} is used by {file.read().strip() or 'another study'}. Wait for its end, or choose "
                            "another folder.") from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        remove_parts(out)
        try:
            yield
        finally:
            remove_parts(out)


def remove_parts(out: Path) -> None:
    """Incomplete results of killed runs."""
    for part in out.glob(f"{HIDDEN}*"):
        shutil.rmtree(part, ignore_errors=True)


class Progress:
    """A line for each recording."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.begin = total, 0, time.monotonic()
        self.failures: dict[str, str] = {}
        self.largest_mib = 0

    def __call__(self, task: Task, result: Row | str, repeated: bool) -> None:
        if repeated:
            say(f"{task.name} failed and is repeated.")
            return
        self.done += 1
        left = (time.monotonic() - self.begin) / self.done * (self.total - self.done)
        head = f"[{self.done:{len(str(self.total))}}/{self.total}] {task.name}"
        if isinstance(result, str):
            like = next((name for name, sentence in self.failures.items() if sentence == result), "")
            self.failures[task.name] = result
            say(f"{head} failed like {like}." if like else f"{head} failed: {result}")
        else:
            self.largest_mib = max(self.largest_mib, result["memory_mib"])
            say(f"{head}  {result['seconds']:.1f} s" + (f", about {clock(left)} left" if self.done < self.total else ""))


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min" if minutes >= 3 else f"{minutes * 60 + rest} s"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(options: argparse.Namespace, passed: list[str]) -> int:
    out = options.out.resolve()
    tasks = tasks_of(options.recordings, out=out, config=options.config, regions=options.regions, options=passed,
                     maps=options.maps, report=not options.no_report, cuda=options.gpus, version=version())
    why = {task.name: task.reason() or ("forced" if options.force else "") for task in tasks}
    if options.dry_run:
        for task in tasks:
            print(f"{'run ' if why[task.name] else 'skip'}  {task.name}  {why[task.name] or 'up to date'}")
        return 0
    with locked(out):
        todo = [task for task in tasks if why[task.name]]
        say(f"{len(tasks)} recording{'s' * (len(tasks) != 1)}, {len(tasks) - len(todo)} up to date.")
        for task in todo if options.force else ():
            Path(task.folder, RECORD).unlink(missing_ok=True)
        progress = Progress(len(todo))
        if todo:
            distribute(options, todo, progress)
        from .study import write_study
        rows = write_study(out, tasks, progress.failures)
    say(f"Wrote {out}/index.html, study.csv and study.parquet: {rows} row{'s' * (rows != 1)}." +
        (f" The largest run took {progress.largest_mib} MiB." if progress.largest_mib else ""))
    for sentence in dict.fromkeys(progress.failures.values()):
        names = ", ".join(name for name, one in progress.failures.items() if one == sentence)
        say(f"failed: {names}: {sentence}")
    if progress.failures:
        say(f"Logs: {out}/NAME.failed.log")
    return 1 if progress.failures else 0


def distribute(options: argparse.Namespace, todo: list[Task], progress: Progress) -> None:
    from .workers import LOST, default_workers, gpu_count, local_workers, memory_share, remote_workers, run_tasks
    while todo:
        memory = int(options.memory * 2**30)
        if options.scheduler == "local":
            count = min(options.workers or (gpu_count() if options.gpus else default_workers()), len(todo))
            memory = memory or memory_share(count)
            workers = local_workers(count, options.gpus)
        else:
            workers = remote_workers(options.scheduler)
        ended: set[str] = set()

        def report(task: Task, result: Row | str, repeated: bool) -> None:
            if not repeated:
                ended.add(task.name)
            progress(task, result, repeated)
        try:
            with workers as client:
                say(f"Dashboard: {client.dashboard_link}")
                run_tasks(client, todo, options.threads or (4 if options.gpus else 1), memory, options.gpus, report)
            return
        except LOST:
            if options.scheduler == "local":
                raise
            say("The connection to the scheduler ended. Recordings without results run again when it is back.")
        todo = [task for task in todo if task.name not in ended]


def main(words: list[str] | None = None) -> int:
    words = sys.argv[1:] if words is None else words
    end = words.index("--") if "--" in words else len(words)
    options = parser().parse_args(words[:end])
    try:
        return run(options, words[end + 1:])
    except (PlanError, TaskError) as error:
        say(f"specklescope batch: {error.args[0]}")
        return 2
    except ModuleNotFoundError as error:
        say(f"specklescope batch: The Python package {error.name} is missing. Install it with: pip install 'specklescope[batch]'.")
        return 2
    except OSError as error:
        say(f"specklescope batch: {error.strerror}: {error.filename or options.out}.")
        return 1
    except KeyboardInterrupt:
        say("specklescope batch: Interrupted. Complete results are kept; the same command continues.")
        return 1


if __name__ == "__main__":
    sys.exit(main())
