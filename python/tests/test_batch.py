"""specklescope batch: results equal to single runs, repetitions only where needed, and no loss by killed processes."""
import csv
import errno
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import specklescope as ss

pytest.importorskip("distributed")
pytest.importorskip("pyarrow")

SETTINGS = '[[stage]]\nname = "speckle"\nradius = 2\n[[stage]]\nname = "average"\nframes = 3\n'
REGIONS = {"regions": [{"name": "artery", "shape": "rectangle", "points": [[4, 4], [20, 15]]},
                       {"name": "vein, left", "shape": "ellipse", "points": [[20, 10], [44, 30]]}]}
DASK = [sys.executable, "-m", "dask"]


@pytest.fixture(scope="module")
def films(program, tmp_path_factory):
    """Three recordings of a simulated scene, a damaged one, and one that ends early."""
    folder = tmp_path_factory.mktemp("films")
    for seed in (1, 2, 3):
        subprocess.run([program, "run", f"synthetic:vessels?width=48&height=32&live=false&seed={seed}", "--frames", "12", "--stage",
                        "none", "--record-raw", folder / f"mouse{seed}.tiff", "--quiet"], check=True)
    data = (folder / "mouse1.tiff").read_bytes()
    (folder / "broken.tiff").write_bytes(data[:2000])
    (folder / "short.tiff").write_bytes(data[:len(data) // 2])
    return folder


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "study.toml").write_text(SETTINGS)
    (tmp_path / "r.json").write_text(json.dumps(REGIONS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*words):
    return [sys.executable, "-m", "specklescope.batch", "--out", "out", *map(str, words)]


def batch(program, *words, status=0, **more):
    done = subprocess.run(command(*words), capture_output=True, text=True, env={**os.environ, "SPECKLESCOPE": str(program), **more})
    assert done.returncode == status, done.stderr
    return done


def table(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def pixels(path):
    return [frame.data.tobytes() for frame in ss.open(path, backend="cpu")]


def same_as_single_run(program, film, folder):
    """Pixels bit for bit, and every column of the table but the time of arrival."""
    subprocess.run([program, "run", film, "--config", "study.toml", "--regions", "r.json", "--record", "single.tiff", "--mean",
                    "mean.tiff", "--traces", "single.csv", "--quiet"], check=True)
    assert pixels(folder / "maps.tiff") == pixels("single.tiff") and len(pixels("single.tiff")) == 12
    assert pixels(folder / "mean.tiff") == pixels("mean.tiff")
    one, other = table("single.csv"), table(folder / "traces.csv")
    for row in (*one, *other):
        del row["arrival_s"]
    assert one == other and len(one) == 24
    for name in ("single.tiff", "mean.tiff", "single.csv"):
        os.unlink(name)


def test_study_equals_single_runs_and_lists_failures(program, films, place):
    (place / "events.csv").write_text("frame,label\n3,stimulus\n7,rest\n")
    (place / "study.csv").write_text(
        "recording,subject,group,events\n" + "".join(f"{films}/mouse{n}.tiff,m{n},{'ab'[n % 2]},{'events.csv' if n == 1 else ''}\n"
                                                     for n in (1, 2, 3)) + f"{films}/broken.tiff,m4,a,\n{films}/short.tiff,m5,b,\n")
    done = batch(program, "study.csv", "--config", "study.toml", "--regions", "r.json", "--maps", 1, status=1)
    for name in ("broken", "short"):
        sentence, = {line for line in done.stderr.splitlines() if line.startswith(f"failed: {name}: ")}
        assert f"{name}.tiff" in sentence and not (place / "out" / name).exists()
        assert (place / f"out/{name}.failed.log").exists()
    for n in (1, 2, 3):
        same_as_single_run(program, f"{films}/mouse{n}.tiff", place / f"out/mouse{n}")
    events = re.findall(r"^# event: (\d+),(\d+),[\d.]+,(.+)$", (place / "out/mouse1/traces.csv").read_text(), re.M)
    assert events == [("1", "3", "stimulus"), ("2", "7", "rest")]

    rows = table("out/study.csv")
    assert [(row["recording"], row["region"], row["subject"], row["group"]) for row in rows] == [
        (f"mouse{n}", region["name"], f"m{n}", "ab"[n % 2]) for n in (1, 2, 3) for region in REGIONS["regions"]]
    for row in rows:  # of a flow index: the index of the mean K²
        values = [float(frame["mean"]) for frame in table(f"out/{row['recording']}/traces.csv")
                  if frame["region"] == row["region"] and frame["warming_up"] == "0"]
        assert int(row["frames"]) == len(values) == 10
        assert float(row["mean"]) == pytest.approx(len(values) / sum(1 / value for value in values), rel=1e-12)
        assert float(row["max"]) == max(values) and float(row["exposure_ms"]) == 5
    import pyarrow.parquet
    stored = pyarrow.parquet.read_table("out/study.parquet").to_pylist()
    assert [{key: "" if value is None else str(value) for key, value in row.items()} for row in stored] == rows


def reasons(program, *words):
    lines = batch(program, *words, "--dry-run").stdout.splitlines()
    return {line.split(None, 2)[1]: (line.split()[0], line.split(None, 2)[2]) for line in lines}


def test_only_what_changed_runs_again(program, films, place):
    shutil.copytree(films, place / "data", ignore=shutil.ignore_patterns("broken*", "short*"))
    words = ("data", "--config", "study.toml", "--regions", "r.json", "--no-report", "--workers", 1)
    assert reasons(program, *words) == {f"mouse{n}": ("run", "new") for n in (1, 2, 3)}
    assert not (place / "out").exists()
    batch(program, *words)
    assert {kind for kind, _ in reasons(program, *words).values()} == {"skip"}
    made = {n: (place / f"out/mouse{n}").stat().st_ino for n in (1, 2, 3)}

    with open("data/mouse2.tiff", "r+b") as film:  # a sample of the last frame
        film.seek(-2000, 2)
        film.write(b"\1\2")
    os.unlink("out/mouse3/mean.png")
    wanted = reasons(program, *words)
    assert wanted["mouse1"][0] == "skip" and wanted["mouse2"] == ("run", "recording changed") and "mean.png" in wanted["mouse3"][1]
    batch(program, *words)
    assert [(place / f"out/mouse{n}").stat().st_ino == made[n] for n in (1, 2, 3)] == [True, False, False]

    assert {kind for kind, _ in reasons(program, *words).values()} == {"skip"} and len(table("out/study.csv")) == 6
    assert set(reasons(program, *words, "--force").values()) == {("run", "forced")}
    (place / "study.toml").write_text(SETTINGS.replace("2", "3"))
    assert set(reasons(program, *words).values()) == {("run", "settings changed")}
    (place / "study.toml").write_text(SETTINGS)
    (place / "r.json").write_text(json.dumps({"regions": REGIONS["regions"][:1]}))
    assert set(reasons(program, *words).values()) == {("run", "settings changed")}


def test_names_and_wrong_requests(program, films, place):
    for mouse in ("a", "b"):
        (place / mouse).mkdir()
        shutil.copy(films / "mouse1.tiff", place / mouse / "raw.tiff")
    (place / "list.txt").write_text(f"# films\n{films}/mouse2.tiff\nsynthetic:vessels?live=false\n")
    assert set(reasons(program, "*/raw.tiff", "list.txt", "a/raw.tiff")) == {"a_raw", "b_raw", "mouse2", "vessels", "raw"}
    (place / "wrong.csv").write_text("file\na\n")
    (place / "empty").mkdir()
    for words in (("a/raw.tiff", "b/raw.tiff"), ("wrong.csv",), ("empty",), ("nothing*",)):
        assert batch(program, *words, status=2).stderr.startswith("specklescope batch: ")
    batch(program, "nowhere.csv", status=1)
    (place / "out").write_text("no folder")
    assert "out" in batch(program, "a", status=2).stderr
    (place / "out").unlink()
    assert not (place / "out").exists()
    lines = batch(program, "a", "list.txt", "--no-report", "--", "--nothing", status=1).stderr.splitlines()
    sentence, = (line for line in lines if line.startswith("failed: "))
    assert set(sentence.split(": ")[1].split(", ")) == {"raw", "mouse2", "vessels"} and "--nothing" in sentence


def test_a_full_disk_is_named(program, films, place):
    """The disk of the results is a small one, in a name space of its own."""
    small = ["unshare", "-rm", "sh", "-c", 'mkdir out; mount -t tmpfs -o size="$1" none out; shift; "$@"', "sh"]
    if subprocess.run([*small, "4k", "true"], capture_output=True).returncode:
        pytest.skip("name spaces need permission")
    for size in ("4k", "100k"):
        done = subprocess.run([*small, size, *command(films / "mouse1.tiff", "--config", "study.toml", "--maps", 1)],
                              capture_output=True, text=True, env={**os.environ, "SPECKLESCOPE": str(program)})
        assert done.returncode == 1 and os.strerror(errno.ENOSPC) in done.stderr and ".part-" not in done.stderr, done.stderr
        assert "None" not in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_reason_of_a_failed_run(program, films, place):
    """A script in place of the program fails, and so does an output at the end of a run."""
    (place / "script").write_text(f'#!/bin/bash\n[[ $1 == run ]] || exec {program} "$@"\necho "a library is missing" >&2\nexit 1\n')
    (place / "script").chmod(0o755)
    for path, words, reason in ((place / "script", (), "a library is missing"), (program, ("--", "--stage", "temporal:frames=25"), "out/mouse1/mean.")):
        done = batch(path, films / "mouse1.tiff", "--no-report", *words, status=1)
        sentence, = (line for line in done.stderr.splitlines() if line.startswith("failed: mouse1: "))
        assert reason in sentence


def test_one_study_at_a_time_writes_into_a_folder(program, films, place):
    (place / "out/.part-mouse1.x").mkdir(parents=True)
    with open("out/.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        batch(program, films / "mouse1.tiff", "--no-report", status=2)
        assert (place / "out/.part-mouse1.x").exists()
    batch(program, films / "mouse1.tiff", "--no-report")
    assert not list((place / "out").glob(".part-*")) and (place / "out/mouse1").exists()


def test_command_of_the_program(program, films, place):
    """It calls this package, and names what is missing."""
    def run(*words, path):
        return subprocess.run([program, "batch", *words], capture_output=True, text=True, env={**os.environ, "PATH": path})
    words = (films / "mouse1.tiff", "--out", "out", "--no-report")
    done = run(*words, "--dry-run", path=f"{sys.prefix}/bin:/usr/bin")
    assert done.returncode == 0 and done.stdout.split() == ["run", "mouse1", "new"], done.stderr
    (place / "python3").write_text(f'#!/bin/bash\nunset PYTHONPATH\nexec {sys.executable} -I -S "$@"\n')  # without packages
    (place / "python3").chmod(0o755)
    for path in (str(place / "nothing"), f"{place}:/bin"):
        done = run(*words, path=path)
        assert done.returncode == 1 and "pip install" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


class Gate:
    """A program that notes each run of a recording, and waits at one of them until the gate is open. Signals that end a run early
    have no effect on it."""

    def __init__(self, folder, program, waits):
        self.log, self.gate, self.path = folder / "started", folder / "open", folder / "gated"
        self.path.write_text(f"""#!/bin/bash
if [[ $1 == run ]]; then
    echo "$2 $$ $PPID" >>{self.log}
    kill -TERM $$; kill -INT $$
    if [[ $2 == *{waits}* ]]; then while [[ ! -e {self.gate} ]]; do sleep 0.05; done; fi
fi
exec {program} "$@"
""")
        self.path.chmod(0o755)

    def runs(self, name=""):
        """(process, its worker) of each start."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [tuple(map(int, line.split()[1:])) for line in lines if name in line]


def until(condition):
    while not condition():
        time.sleep(0.05)


def alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def cluster(place):
    """start(gate) starts a scheduler and two workers over TCP on the loopback; kill() kills all."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{found.getsockname()[1]}"
    running = []

    class Cluster:
        def start(self, programs):
            def run(*words, program=""):
                environment = {**os.environ, "SPECKLESCOPE": str(program), "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical"}
                running.append(subprocess.Popen([*DASK, *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                                start_new_session=True))
            run("scheduler", "--host", address, "--no-dashboard")
            for program in programs:
                run("worker", address, "--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard", "--local-directory", str(place), program=program)

        def kill(self):
            for process in running:  # with its worker: a group of its own
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            running.clear()

    made = Cluster()
    made.address = address
    yield made
    made.kill()


@pytest.mark.parametrize("lost", ["worker", "scheduler"])
def test_a_kill_repeats_only_its_recording(program, films, place, cluster, lost):
    gate = Gate(place, program, "mouse2")
    cluster.start([gate.path, gate.path])
    words = command(*(films / f"mouse{n}.tiff" for n in (1, 2, 3)), "--config", "study.toml", "--regions", "r.json", "--maps", 1,
                    "--scheduler", cluster.address)
    study = subprocess.Popen(words, env={**os.environ, "SPECKLESCOPE": str(gate.path)}, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: len(gate.runs()) == 3 and all((place / f"out/mouse{n}/batch.json").exists() for n in (1, 3)) or study.poll() is not None)
        (process, worker), = gate.runs("mouse2")
        assert list((place / "out").glob(".part-mouse2.*"))
        if lost == "worker":
            os.kill(worker, signal.SIGKILL)
        else:
            cluster.kill()
        until(lambda: not alive(process))
        if lost == "scheduler":
            cluster.start([gate.path, gate.path])
        until(lambda: len(gate.runs("mouse2")) == 2 or study.poll() is not None)
        gate.gate.touch()
        log = study.communicate()[1]
    finally:
        study.kill()
    assert study.returncode == 0, log
    assert len(gate.runs("mouse2")) == 2 and len(gate.runs()) == 4
    assert not list((place / "out").glob(".part-*"))
    for n in (1, 2, 3):
        same_as_single_run(program, f"{films}/mouse{n}.tiff", place / f"out/mouse{n}")


def test_each_gpu_has_one_recording_at_a_time(program, films, place):
    """With two pretended GPUs, and a program that notes which one it may use, and computes on the host."""
    for name, text in (("nvidia-smi", "echo GPU 0: A; echo GPU 1: B"),
                       ("noted", f'''if [[ $1 == run ]]; then echo "begin $CUDA_VISIBLE_DEVICES" >>{place}/log; fi
{program} "${{@/#cuda/cpu}}"
status=$?
if [[ $1 == run ]]; then echo "end $CUDA_VISIBLE_DEVICES" >>{place}/log; fi
exit $status''')):
        (place / name).write_text(f"#!/bin/bash\n{text}\n")
        (place / name).chmod(0o755)
    (place / "data").mkdir()
    for n in range(12):
        os.link(films / f"mouse{n % 3 + 1}.tiff", place / f"data/film{n}.tiff")
    batch(place / "noted", "data", "--no-report", "--gpus", PATH=f"{place}:{os.environ['PATH']}")
    noted = [line.split() for line in (place / "log").read_text().splitlines()]
    assert len(noted) == 24 and {gpu for _, gpu in noted} == {"0", "1"}
    for gpu in "01":
        mine = [what for what, of in noted if of == gpu]
        assert mine == ["begin", "end"] * (len(mine) // 2)


def test_versions_of_workers_are_compared(program, films, place, cluster):
    (place / "other").write_text("#!/bin/bash\necho specklescope 99.1\n")
    (place / "other").chmod(0o755)
    cluster.start([place / "other"])
    # by its task where the worker connects after the study, otherwise at once
    words = command(films / "mouse1.tiff", "--scheduler", cluster.address)
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "SPECKLESCOPE": str(program)})
    assert done.returncode in (1, 2) and "99.1" in done.stderr and not (place / "out/mouse1").exists()
    assert "99.1" in batch(program, films / "mouse1.tiff", "--scheduler", cluster.address, status=2).stderr


def test_two_hundred_recordings_of_which_five_are_broken(program, films, place):
    (place / "data").mkdir()
    for n in range(200):
        os.link(films / ("broken.tiff" if n % 40 == 7 else f"mouse{n % 3 + 1}.tiff"), place / f"data/film{n:03}.tiff")
    done = batch(program, "data", "--config", "study.toml", "--regions", "r.json", "--no-report", status=1)
    broken = {f"film{n:03}" for n in range(7, 200, 40)}
    assert {line.split(": ")[1] for line in done.stderr.splitlines() if line.startswith("failed: ")} == broken
    rows = table("out/study.csv")
    assert len(rows) == 390 and {row["recording"] for row in rows} == {f"film{n:03}" for n in range(200)} - broken
    means = {row["mean"] for row in rows}
    assert len(means) == 6  # three films with two regions


def test_overview_in_a_browser_without_scripts(program, films, place):
    browser = shutil.which("chromium") or pytest.skip("chromium is not installed")
    batch(program, films / "mouse1.tiff", films / "mouse2.tiff", films / "broken.tiff", "--config", "study.toml", status=1)

    def colourful(page):
        """Pixels of the drawn page that are far from grey, as those of maps."""
        subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={place}/profile", "--hide-scrollbars",
                        "--window-size=1280,800", f"--screenshot={place}/page.png", f"file://{page}"],
                       check=True, capture_output=True)
        image = next(iter(ss.open(place / "page.png", transfer="linear"))).data.astype(int)
        assert image.shape[:2] == (800, 1280)
        return int((image.max(2) - image.min(2) > 120).sum())

    page = place / "out/index.html"
    drawn = colourful(page)
    text = page.read_text()
    assert "script-src 'none'" in text and "mouse1" in text and "broken.tiff" in text
    (place / "out/empty.html").write_text(text.replace("mean.png", "missing.png"))
    assert drawn > 20000 + 2 * colourful(place / "out/empty.html")


def blocks(language):
    page = (Path(__file__).resolve().parents[2] / "docs/batch.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.S | re.M)


def test_scripts_of_the_page_are_correct():
    yaml = pytest.importorskip("yaml")
    shell, python, manifests = blocks("sh"), blocks("python"), blocks("yaml")
    for text in shell:
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    for text in python:
        compile(text, "docs/batch.md", "exec")
    kinds = [part["kind"] for text in manifests for part in yaml.safe_load_all(text)]
    assert len(shell) >= 5 and python and kinds == ["DaskCluster", "Job"]


def test_first_example_of_the_page_runs(program, place):
    (place / "bin").mkdir()
    (place / "bin/specklescope").symlink_to(program)
    done = subprocess.run(["bash", "-e"], input=blocks("sh")[0], text=True, capture_output=True,
                          env={**os.environ, "PATH": f"{place}/bin:{sys.prefix}/bin:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()[-3:]] == [["skip", f"mouse{n}"] for n in (1, 2, 3)]
    assert len(table("results/study.csv")) == 3 and (place / "results/mouse1/report.pdf").exists()
