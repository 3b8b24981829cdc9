"""One scene through all interfaces of an installation: program, pipe, C, Python with host and GPU memory, GStreamer,
requests and published messages have identical numbers, byte for byte."""
import json
import random
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import zmq

import specklescope as ss

import cuda_arrays

HERE = Path(__file__).resolve().parent
WIDTH, HEIGHT, FRAMES = 67, 45, 12  # GStreamer's own caps would pad these rows to 4 bytes
CHAINS = ["background:black=64 | temporal:frames=5,output=contrast2 | gaussian:sigma=1.2 | flow",
          "background:black=64 | speckle:radius=2,output=contrast2 | average:frames=3 | flow:output=tau | gaussian:sigma=0.8"]
BOX = {"name": "artery", "shape": "rectangle", "points": [[10, 8], [29, 27]]}
INSIDE = np.s_[8:28, 10:30]


class Scene:
    """Raw frames in a file, and the program's results for them."""

    def __init__(self, folder, environment, chain):
        self.folder, self.environment, self.chain = folder, environment, chain
        self.stages = [word for stage in chain.split(" | ") for word in ("--stage", stage)]
        seed = random.SystemRandom().randrange(2**31)
        print(f"seed {seed}")
        # Heartbeats of 1.2/s sampled at 3.14 frames/s: consecutive frames have different phases and are
        # never equal. Otherwise a temporal contrast would be 0.
        self.run("specklescope", "run", f"synthetic:vessels?width={WIDTH}&height={HEIGHT}&rate=3.14&live=false&seed={seed}",
                 "--frames", FRAMES, "--stage", "none", "--backend", "cpu", "--record-raw", "scene.raw", "--quiet")
        self.raw = np.fromfile(folder / "scene.raw", np.uint16).reshape(FRAMES, HEIGHT, WIDTH)
        assert (self.raw[1:] != self.raw[:-1]).any(axis=2).all()
        self.source = f"raw:{folder}/scene.raw"
        with open(folder / "scene.raw.jsonl", encoding="utf-8") as lines:
            facts = json.loads(next(lines))
        self.exposure, self.full_scale = facts["exposure_ms"], facts["full_scale"]
        self.run("specklescope", "run", self.source, *self.stages, "--backend", "cpu", "--record", "program.raw", "--quiet")
        self.made = self.file("program.raw")
        assert len(self.made) == FRAMES * HEIGHT * WIDTH * 4
        self.results = np.frombuffer(self.made, np.float32).reshape(FRAMES, HEIGHT, WIDTH)
        assert len(np.unique(self.results, axis=0)) == FRAMES, "frames that are alike would prove little"

    def run(self, *words):
        """Standard output of the command, as bytes."""
        done = subprocess.run([str(word) for word in words], cwd=self.folder, env=self.environment, capture_output=True,
                              timeout=120)
        assert done.returncode == 0, f"{words}: {done.stderr.decode()}"
        return done.stdout

    def file(self, name):
        return (self.folder / name).read_bytes()


@pytest.fixture(scope="module", params=CHAINS, ids=["temporal", "average"])
def scene(request, tmp_path_factory, at_home):
    return Scene(tmp_path_factory.mktemp("scene"), at_home, request.param)


def test_a_pipe(scene):
    assert scene.run("specklescope", "run", scene.source, *scene.stages, "--backend", "cpu", "--record", "-") == scene.made


def test_c(scene):
    scene.run("sh", "-c", f"cc -std=c99 -Wall -Werror {HERE}/one_scene.c -o one_scene $(pkg-config --cflags --libs specklescope) "
              "-Wl,-rpath,$(pkg-config --variable=libdir specklescope)")
    scene.run("./one_scene", scene.source, scene.chain, "stream", "chain")
    assert scene.file("stream") == scene.made
    assert scene.file("chain") == scene.made


def test_python(scene):
    chain = ss.Chain(*scene.chain.split(" | "), backend="cpu")
    made = [chain(frame, exposure_ms=scene.exposure, full_scale=scene.full_scale).tobytes() for frame in scene.raw]
    assert b"".join(made) == scene.made
    with ss.open(scene.source, backend="cpu").chain(scene.chain) as stream:
        assert b"".join(frame.data.tobytes() for frame in stream) == scene.made


@pytest.mark.skipif(cuda_arrays.RUNTIME is None, reason=cuda_arrays.WHY_NOT)
def test_python_in_memory_of_a_gpu(scene):
    """GPU results are identical for frames and results in any memory. Host results agree as stated in docs/agreement.md."""
    scene.run("specklescope", "run", scene.source, *scene.stages, "--backend", "cuda", "--record", "gpu.raw", "--quiet")
    expected, facts = scene.file("gpu.raw"), {"exposure_ms": scene.exposure, "full_scale": scene.full_scale}
    offers = {"interface": cuda_arrays.ByInterface, "DLPack": lent_by_dlpack, "host": np.asarray}
    for name, offer in offers.items():
        chain, made = ss.Chain(*scene.chain.split(" | "), backend="cuda"), b""
        for frame in scene.raw:
            result = chain(offer(frame), **facts)
            made += (cuda_arrays.read(result) if isinstance(result, ss.DeviceArray) else result).tobytes()
        assert made == expected, name
    chain, made = ss.Chain(*scene.chain.split(" | "), backend="cuda"), b""
    for frame in scene.raw:
        out = cuda_arrays.ByInterface(np.zeros((HEIGHT, WIDTH), np.float32))
        chain(frame, out=out, **facts)
        made += cuda_arrays.read(out).tobytes()
    assert made == expected, "from the host into a GPU"
    with ss.open(scene.source, backend="cuda").chain(scene.chain) as stream:
        assert b"".join(frame.data.tobytes() for frame in stream) == expected
    on_gpu = np.frombuffer(expected, np.float32).reshape(scene.results.shape).astype(np.float64)
    on_host = scene.results.astype(np.float64)
    if scene.chain.endswith("flow"):  # an index is proportional to 1/K², and K² is smoothed
        on_gpu, on_host = 1 / on_gpu, 1 / on_host
    finite = np.isfinite(on_host)
    np.testing.assert_array_equal(np.isfinite(on_gpu), finite)
    assert np.abs(on_gpu - on_host)[finite].max() <= 1e-4 * np.abs(on_host[finite]).max()


def lent_by_dlpack(frame):
    held = cuda_arrays.ByInterface(frame)
    lent = cuda_arrays.ByDlpack(held.memory.address, frame.shape, frame.dtype)
    lent.held = held
    return lent


def test_gstreamer(scene):
    frame = WIDTH * HEIGHT * 2
    scene.run("gst-launch-1.0", "-q", "filesrc", "location=scene.raw", f"blocksize={frame}", "!", "rawvideoparse",
              f"width={WIDTH}", f"height={HEIGHT}", "format=gray16-le", "framerate=25/1", f"plane-strides=<{WIDTH * 2}>",
              f"frame-size={frame}", "!", "specklescope", "options=backend=cpu", f"exposure={scene.exposure}",
              f"full-scale={scene.full_scale}", f"chain={scene.chain}", "!", "filesink", "location=element.raw")
    assert scene.file("element.raw") == scene.made


@pytest.fixture
def running(scene):
    """The scene in a loop, with two outputs open; histories restart in each round. Returns the addresses."""
    (scene.folder / "regions.json").write_text(json.dumps({"regions": [BOX]}))
    child = subprocess.Popen(
        ["specklescope", "run", scene.source, *scene.stages, "--backend", "cpu", "--loop", "--rate", "100", "--regions",
         "regions.json", "--publish", "zmq://127.0.0.1:0", "--control", "zmq://127.0.0.1:0"],
        cwd=scene.folder, env=scene.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        found = {}
        while len(found) < 2:
            line = child.stderr.readline()
            assert line, "it ended before its doors were open"
            if told := re.search(r"(published|answered) at (\S+)\.$", line):
                found[told[1]] = told[2]
        yield found
        with ss.Control(found["answered"]) as control:
            control.quit()
        assert child.wait(60) == 0
    finally:
        child.kill()
        child.wait()


def test_frames_on_request(scene, running):
    made, last = {}, None
    with ss.Control(running["answered"]) as control:
        for _ in range(100 * FRAMES):
            frame = control.frame(after=last, raw=True)
            last, place = frame.header["sequence"], frame.header["position"]
            assert frame.raw.tobytes() == scene.raw[place].tobytes()
            assert made.setdefault(place, frame.image.tobytes()) == frame.image.tobytes()
            if len(made) == FRAMES:
                break
    assert b"".join(made[place] for place in range(FRAMES)) == scene.made


def test_published_numbers(scene, running):
    with zmq.Context() as context, context.socket(zmq.SUB) as socket:
        socket.rcvtimeo, socket.linger = 30_000, 0
        socket.subscribe('{"content":"frame"')
        socket.connect(running["published"].replace("zmq://", "tcp://"))
        told = {}
        while len(told) < FRAMES:
            message = json.loads(socket.recv())
            told[message["position"]] = message
    for place, message in told.items():
        box = scene.results[place][INSIDE].astype(np.float64)
        finite = box[np.isfinite(box)]
        numbers = message["regions"]["artery"]
        assert (numbers["pixels"], numbers["valid"], numbers["infinite"]) == (400, finite.size, np.isinf(box).sum())
        if finite.size == 0:  # the contrast of the first frame, over one frame
            assert place == 0 and numbers["mean_of_map"] is None and numbers["mean"] is None
        else:
            assert (numbers["min"], numbers["max"]) == (finite.min(), finite.max())
            # Sums of 400 numbers in another order.
            assert numbers["mean_of_map"] == pytest.approx(finite.mean(), rel=1e-12)
            assert numbers["std"] == pytest.approx(finite.std(ddof=1), rel=1e-9)
            # An index is proportional to 1/K², and only K² may be averaged.
            mean = (finite.size + np.isinf(box).sum()) / (1 / finite).sum() if scene.chain.endswith("flow") else finite.mean()
            assert numbers["mean"] == pytest.approx(mean, rel=1e-6)
        raw = scene.raw[place]
        assert (message["raw_samples"], message["raw_saturated"]) == (raw.size, (raw == scene.full_scale).sum())
        assert message["exposure_ms"] == scene.exposure
