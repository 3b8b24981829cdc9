"""Runs tests with an active change, and finds the changes that each test reaches, and its duration."""
import concurrent.futures
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

ALONE = 2.0  # s: a test that takes longer has a process of its own
TOGETHER = 200  # tests in one process, at most
ROOMS = {  # the programs with tests for a room, its own program first
    "stages": ["stages", "pipeline"],
    "pipeline": ["pipeline", "stages", "recording", "sources", "analysis", "config", "net", "ui"],
    "files": ["recording", "sources", "stages", "analysis", "config"],
    "sources": ["sources", "recording", "pipeline", "config"],
    "recording": ["recording", "sources", "analysis", "config", "net", "ui"],
    "analysis": ["analysis", "stages", "pipeline", "recording", "config", "net", "ui"],
    "config": ["config", "analysis", "net", "ui"],
    "net": ["net", "ui"],
    "ui": ["ui", "config", "net"],
}


def room_of(file):
    return file.split("/")[0]


def limits():
    """Limits memory and file size, which a change may exhaust."""
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_all(child, folder):
    """Ends the process group, and processes that left it but still have the run's folder in their environment."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
    mark = f"TMPDIR={folder}".encode()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            pass  # the process has ended, or belongs to another user


class Run:
    """One process of tests. `seconds`: duration of each test on correct code; a test that takes ten times that, and 20
    s, is ended.

    passed; took (s); failed: the tests that failed, or during which the process crashed or hung; why: failure, crash or
    time.
    """

    def __init__(self, build, program, tests, seconds, number=0, reached=None):
        words = [build / f"{program}_tests", f"--gtest_filter={':'.join(tests)}", "--gtest_color=no"]
        if number:
            words.append("--gtest_fail_fast")
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="mutant-", ignore_cleanup_errors=True) as folder:
            environment = dict(os.environ, SPECKLESCOPE_MUTANT=str(number), SPECKLESCOPE_TEST_SEED="1", TMPDIR=folder)
            environment.pop("DISPLAY", None)
            if reached:
                environment["SPECKLESCOPE_MUTANTS_REACHED"] = str(reached)
            with tempfile.TemporaryFile("w+b") as out:
                child = subprocess.Popen(words, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=build,
                                         env=environment, start_new_session=True, preexec_fn=limits)
                text = self._watch(child, out, seconds)
                end_all(child, folder)
        self.took = time.monotonic() - begin
        self.passed = child.returncode == 0 and not self.hung
        self.failed = list(dict.fromkeys(re.findall(r"^\[  FAILED  \] ([\w./]+)", text, re.M)))
        self.why = "" if self.passed else "time" if self.hung else "failure" if self.failed else "crash"
        if self.why == "crash" and child.returncode >= 0 and not self.now:
            self.why = "failure"  # no test began
        if not self.passed and not self.failed:
            self.failed = [self.now] if self.now else tests[:1]

    def _watch(self, child, out, seconds):
        """Waits for the end, or for a test that hangs; returns the output."""
        self.now, self.hung, since = "", False, time.monotonic()
        while True:
            try:
                child.wait(0.1)
            except subprocess.TimeoutExpired:
                pass
            text = os.pread(out.fileno(), 1 << 30, 0).decode(errors="replace")
            began = re.findall(r"^\[ RUN      \] ([\w./]+)", text, re.M)
            if began and began[-1] != self.now:
                self.now, since = began[-1], time.monotonic()
            if child.returncode is not None:
                return text
            if time.monotonic() - since > 10 * seconds.get(self.now, 2) + 20:
                self.hung = True
                return text


def tests_of(build, program, only):
    listed = subprocess.run([build / f"{program}_tests", "--gtest_list_tests", f"--gtest_filter={only}"], check=True,
                            capture_output=True, text=True).stdout
    suite = ""
    for line in listed.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            yield suite + name.strip()
        elif name.endswith("."):
            suite = name


class Survey:
    """Finds which tests reach which mutants, and the duration of each test."""

    def __init__(self, build, programs, mutants, jobs, only="*"):
        self.build, self.seconds, self.reach, self.unsteady = build, {}, {}, []
        size = max((m.number for m in mutants), default=0) + 1
        every = list(dict.fromkeys((p, t) for p in programs for t in tests_of(build, p, only)))
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for (program, test), run, reached in pool.map(lambda job: self._look(*job, size), every):
                if run.passed:
                    self.seconds[program, test], self.reach[program, test] = run.took, reached
        for line in self.unsteady:
            print(f"mutate: fails with no change awake: {line}", file=sys.stderr)
        print(f"mutate: {len(self.reach)} of {len(every)} tests take part, {sum(self.seconds.values()):.0f} s together",
              file=sys.stderr, flush=True)

    def _look(self, program, test, size):
        with tempfile.NamedTemporaryFile(prefix="mutants-reached-") as file:
            file.truncate(size)
            for _ in range(3):
                run = Run(self.build, program, [test], {test: 600}, reached=file.name)
                if run.passed:
                    break
                self.unsteady.append(f"{program} {test}: {run.why}")
            return (program, test), run, {i for i, byte in enumerate(pathlib.Path(file.name).read_bytes()) if byte}

    def batches(self, mutant):
        """The tests that reach a mutant, (program, [tests]): those of its room's own program first, quick ones together."""
        order = ROOMS[room_of(mutant.file)]
        quick, slow = {}, []
        for (program, test), reached in self.reach.items():
            if mutant.number not in reached or program not in order:
                continue
            took = self.seconds[program, test]
            if took > ALONE:
                slow.append((took * (1 if program == order[0] else 3), program, [test]))
            else:
                quick.setdefault((program, took > 0.2), []).append(test)
        for program, long in sorted(quick, key=lambda key: (order.index(key[0]) > 0, key[1], order.index(key[0]))):
            tests = quick[program, long]
            for first in range(0, len(tests), TOGETHER):
                yield program, tests[first:first + TOGETHER]
        for _, program, tests in sorted(slow):
            yield program, tests

    def attempt(self, mutant):
        """The result for a mutant: {'outcome': noticed, survived or not reached, …}."""
        begin = time.monotonic()
        batches = list(self.batches(mutant))
        result = {"outcome": "survived" if batches else "not reached", "tests": sum(len(t) for _, t in batches)}
        for program, tests in batches:
            by = self._notices(program, tests, mutant.number)
            if by:
                result.update(outcome="noticed", by=f"{program}: {by[0]}", how=by[1])
                break
        result["seconds"] = round(time.monotonic() - begin, 1)
        return result

    def _notices(self, program, tests, number):
        """(test, why) of a test that fails twice, the second time by itself, so that chance does not count. A test that
        hangs runs only once."""
        seconds = {test: self.seconds[program, test] for test in tests}
        while tests:
            run = Run(self.build, program, tests, seconds, number)
            if run.passed:
                return None
            test = run.failed[0]
            if run.why == "time" or not Run(self.build, program, [test], seconds, number).passed:
                return test, run.why
            tests = [t for t in tests if t != test]
        return None
