"""Distributes tasks to the workers of a Dask scheduler."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import forkserver
from typing import Any

import dask
from distributed import Client, KilledWorker, Nanny, Scheduler, SpecCluster, as_completed
from distributed.comm import CommClosedError
from distributed.system import MEMORY_LIMIT

from .plan import PlanError, Task
from .task import Row, TaskError, run_task, version

Report = Callable[[Task, Row | str, bool], None]  # the record or the sentence of a failure; True: it is repeated
WAIT_S = 600  # for a scheduler that restarts


class SchedulerLost(Exception):
    """The connection ended; complete results are in their folders."""


LOST = (SchedulerLost, CommClosedError)


def gpu_count() -> int:
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        listed = ""
    count = sum(line.startswith("GPU ") for line in listed.splitlines())
    if not count:
        raise PlanError("No NVIDIA GPU is found. Leave out --gpus.")
    return count


@contextmanager
def local_workers(count: int, gpus: bool) -> Iterator[Client]:
    """Worker processes on this computer. One task at a time for each; with GPUs one worker for each of them. Scheduler,
    workers and dashboard listen on the loopback only."""
    workers = {}
    for number in range(count):
        options: dict[str, Any] = {"nthreads": 1, "memory_limit": 0, "host": "127.0.0.1",
                                   "dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL}
        if gpus:
            options |= {"resources": {"GPU": 1}, "env": {"CUDA_VISIBLE_DEVICES": str(number)}}
        workers[number] = {"cls": Nanny, "options": options}
    scheduler = {"cls": Scheduler, "options": {"host": "127.0.0.1", "port": 0, "dashboard_address": "127.0.0.1:0"}}
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # inherited: Ctrl-C ends this process, which ends its workers
    try:  # one process imports Dask, and the workers are its copies
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
        multiprocessing.set_forkserver_preload(["distributed"])
        forkserver.ensure_running()  # before Dask adds pandas and others
        started = SpecCluster(scheduler=scheduler, workers=workers, silence_logs=logging.CRITICAL)
    finally:
        signal.signal(signal.SIGINT, handler)
    with started as cluster, Client(cluster) as client:
        yield client


@contextmanager
def remote_workers(address: str) -> Iterator[Client]:
    try:
        client = Client(address, timeout=WAIT_S)
    except (OSError, asyncio.TimeoutError) as error:
        raise PlanError(f"The scheduler at {address} does not answer: {error}. Start it with: dask scheduler.") from None
    try:
        check_versions(client)
        yield client
    finally:
        client.close()


def check_versions(client: Client) -> None:
    """Workers that connect later are checked by each task."""
    try:
        client.get_versions(check=True)
    except ValueError as error:
        raise PlanError(f"The Python packages of workers differ. Install the same versions. {' '.join(str(error).split())}") from None
    ours = version()
    for worker, theirs in client.run(version, on_error="return").items():
        if theirs != ours:
            raise PlanError(f"The worker {worker} has {theirs}, and this computer has {ours}. Install the same version.")


def run_tasks(client: Client, tasks: list[Task], threads: int, memory: int, gpus: bool, report: Report) -> None:
    """Runs all tasks. A failed one is repeated once, on another worker if there is one. A task whose worker is killed is
    repeated by Dask. Throws SchedulerLost."""
    resources = {"GPU": 1} if gpus else {}
    running: dict[Any, tuple[Task, int]] = {}

    def submit(task: Task, attempt: int, workers: list[str] | None) -> Any:
        future = client.submit(run_task, task, attempt, threads, memory, key=f"{task.name}-{attempt}-{time.time_ns()}", pure=False,
                               resources=resources, workers=workers, allow_other_workers=workers is not None)
        running[future] = (task, attempt)
        return future

    finished = as_completed([submit(task, 0, None) for task in tasks])
    for future in finished:
        task, attempt = running.pop(future)
        if future.status == "finished":
            report(task, future.result(), False)
            continue
        if future.status != "error":  # cancelled or lost
            raise SchedulerLost
        error = future.exception()
        if isinstance(error, TaskError):
            repeat = error.repeat and attempt == 0
            report(task, error.sentence, repeat)
            if repeat:
                others = [worker for worker in client.scheduler_info(n_workers=-1)["workers"] if worker != error.worker]
                finished.add(submit(task, 1, others or None))
        elif isinstance(error, KilledWorker):
            report(task, "Each worker that ran it was killed, perhaps because its memory was used up.", False)
        else:
            report(task, f"{type(error).__name__}: {error}", False)


def memory_share(count: int) -> int:
    """Bytes for each of the local workers."""
    return int(MEMORY_LIMIT) * 9 // 10 // count


def default_workers() -> int:
    """One for each core: a recording on one thread each is faster than one after another on all threads (docs/batch.md)."""
    return len(os.sched_getaffinity(0))
