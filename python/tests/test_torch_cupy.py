"""PyTorch, CuPy and JAX on a GPU: the bytes of the host, in the given memory, in the caller's order."""
import gc
import os
import threading

import numpy as np
import pytest

import specklescope as ss
from specklescope import _device

import cuda_arrays
from cuda_arrays import ByInterface, read

pytestmark = pytest.mark.skipif(cuda_arrays.RUNTIME is None, reason=cuda_arrays.WHY_NOT)
HEIGHT, WIDTH = 48, 64


class Torch:
    def __init__(self):
        self.module = pytest.importorskip("torch", reason="torch is not installed", exc_type=ImportError)
        there = self.module.cuda.is_available()
        assert there or os.environ.get("SPECKLESCOPE_REQUIRE_GPU") != "1", "SPECKLESCOPE_REQUIRE_GPU=1, but torch finds no GPU"
        if not there:
            pytest.skip("torch finds no GPU")
        self.kind, self.new_stream, self.on = self.module.Tensor, self.module.cuda.Stream, self.module.cuda.stream
        self.in_use = self.module.cuda.memory_allocated

    def put(self, array):
        return self.module.from_numpy(np.ascontiguousarray(array)).cuda()

    def get(self, tensor):
        return tensor.cpu().numpy()

    def address(self, tensor):
        return tensor.data_ptr()

    def copy(self, into, given):
        into.copy_(given, non_blocking=True)

    def number(self, stream):
        return stream.cuda_stream

    def done(self, stream):
        return stream.query()

    def default_stream(self):
        return self.module.cuda.default_stream()

    def by_interface(self, array):
        return self.module.as_tensor(array, device="cuda")


class Cupy:
    def __init__(self):
        self.module = pytest.importorskip("cupy", reason="cupy is not installed", exc_type=ImportError)
        self.kind, self.put, self.get = self.module.ndarray, self.module.asarray, self.module.asnumpy
        self.by_interface = self.module.asarray
        self.in_use = self.module.get_default_memory_pool().used_bytes

    def new_stream(self):
        return self.module.cuda.Stream(non_blocking=True)

    def on(self, stream):
        return stream

    def address(self, array):
        return array.data.ptr

    def copy(self, into, given):
        into[...] = given

    def number(self, stream):
        return stream.ptr

    def done(self, stream):
        return stream.done

    def default_stream(self):
        return self.module.cuda.Stream.null


@pytest.fixture(params=[Torch, Cupy], ids=["torch", "cupy"])
def library(request):
    return request.param()


@pytest.fixture
def torch():
    return Torch()


@pytest.fixture
def chain():
    with ss.Chain("speckle:output=contrast", backend="cuda") as made:
        yield made


@pytest.fixture
def addresses(monkeypatch):
    """Records the inputs of the library, and results before their conversion to other arrays."""
    given, made = [], []
    pixels, lent = _device._core.DevicePixels, _device.lent_to_its_library

    def note_pixels(*told):
        given.append(told[3])
        return pixels(*told)

    def note_result(result, frame):
        made.append(result.__cuda_array_interface__["data"][0])
        return lent(result, frame)

    monkeypatch.setattr(_device._core, "DevicePixels", note_pixels)
    monkeypatch.setattr(_device, "lent_to_its_library", note_result)
    return given, made


@pytest.fixture
def images(rng):
    return rng.integers(0, 200, (8, HEIGHT, WIDTH), np.uint16).astype(np.float32)


def is_of(library, made, frame):
    return isinstance(made, library.kind) and made.device == frame.device and str(made.dtype).endswith("float32")


def refused(chain, frame, sentence, **more):
    with pytest.raises(ss.UsageError) as error:
        chain(frame, **more)
    assert sentence in str(error.value), str(error.value)
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


# --- the same bytes ---

@pytest.mark.parametrize("shape", [(HEIGHT, WIDTH), (47, 61), (7, 9), (40, 50, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_every_type_gives_the_bytes_of_the_host(chain, rng, library, shape, dtype):
    for _ in range(6):  # more than can be pending at once
        image = rng.integers(0, 200, shape).astype(dtype)
        frame = library.put(image)
        made = chain(frame)
        assert is_of(library, made, frame) and tuple(made.shape) == shape[:2]
        assert library.get(made).tobytes() == chain(image).tobytes()


def test_a_stack_gives_a_stack(rng, library):
    for dtype in (np.uint8, np.uint16, np.float32):
        stack = rng.integers(0, 200, (3, HEIGHT, WIDTH)).astype(dtype)
        made = ss.speckle(library.put(stack), output="contrast", backend="cuda")
        assert isinstance(made, library.kind)
        assert library.get(made).tobytes() == ss.speckle(stack, output="contrast", backend="cuda").tobytes()


def test_either_side_may_be_of_another_library(chain, rng, library):
    image = rng.integers(0, 4096, (HEIGHT, WIDTH), np.uint16)
    expected = chain(image)
    out = library.put(np.zeros_like(expected))
    host = np.zeros_like(expected)
    others = [other() for other in (Torch, Cupy) if has(other)]
    for frame in (image, ByInterface(image), *(other.put(image) for other in others)):
        library.copy(out, library.put(np.zeros_like(expected)))
        assert chain(frame, out=out) is out
        assert library.get(out).tobytes() == expected.tobytes()
    assert chain(library.put(image), out=host) is host
    assert host.tobytes() == expected.tobytes()
    bare = ByInterface(np.zeros_like(expected))
    assert chain(library.put(image), out=bare) is bare
    assert read(bare).tobytes() == expected.tobytes()


def has(library):
    try:
        library()
    except pytest.skip.Exception:
        return False
    return True


# --- without a copy ---

def test_frames_and_results_stay_where_they_are(chain, images, library, addresses):
    given, lent = addresses
    frame = library.put(images[0])
    chain(frame)
    del given[:], lent[:]
    before = library.in_use()
    made = chain(frame)
    assert library.in_use() == before, "the library has made room for something"
    assert given == [library.address(frame), library.address(made)] and lent == [library.address(made)]
    out = library.put(np.zeros_like(images[0]))
    place, before = library.address(out), library.in_use()
    del given[:]
    assert chain(frame, out=out) is out
    assert library.in_use() == before and given == [library.address(frame), place] and library.address(out) == place
    assert library.get(out).tobytes() == library.get(made).tobytes()


@pytest.mark.parametrize("text, least", [("speckle:output=contrast", 7), ("gamma:gamma=0.5", 1)])
def test_rows_that_lie_apart_are_read_where_they_are(rng, library, addresses, text, least):
    chain = ss.Chain(text, backend="cuda")
    for dtype, shape in ((np.uint8, (60, 100)), (np.uint16, (60, 100)), (np.float32, (60, 100)), (np.uint8, (60, 100, 3))):
        wide = rng.integers(0, 200, shape).astype(dtype)
        frames = library.put(wide)
        for part in (np.s_[5:53, 7:71], np.s_[::2], np.s_[8:56, 16:80], np.s_[5:6, 7:71], np.s_[5:53, 7:8], np.s_[59:, 99:]):
            frame = frames[part]  # releases the previous frame and the array that contained it
            before = library.in_use()
            if min(frame.shape[:2]) < least:
                continue
            del addresses[0][:]
            made = chain(frame)
            assert library.in_use() <= before  # a frame of earlier calls may be released in this one
            assert addresses[0][0] == library.address(frame)
            assert library.get(made).tobytes() == chain(np.ascontiguousarray(wide[part])).tobytes()


def test_a_part_of_an_array_is_written_and_nothing_beside_it(chain, images, library):
    wide = library.put(np.full((60, 100), 7, np.float32))
    out = wide[5:53, 9:73]
    assert chain(library.put(images[0]), out=out) is out
    expected = np.full((60, 100), 7, np.float32)
    expected[5:53, 9:73] = chain(images[0])
    np.testing.assert_array_equal(library.get(wide), expected)


def test_results_of_arrays_without_a_library_are_taken_where_they_lie(chain, images, library):
    made = chain(ByInterface(images[0]))
    place = made.__cuda_array_interface__["data"][0]
    by_dlpack = library.module.from_dlpack(made)
    by_interface = library.by_interface(made)
    for taken in (by_dlpack, by_interface):
        assert library.address(taken) == place
    del made
    gc.collect()
    for taken in (by_dlpack, by_interface):
        assert library.get(taken).tobytes() == chain(images[0]).tobytes()


# --- in the caller's order ---

@pytest.fixture
def delay(library):
    """Adds work of about a tenth of a second to the current stream: code that does not wait for it reads too early."""
    busy = library.put(np.zeros(1 << 26, np.float32))  # 256 MiB, read and written 400 times

    def put(times=400):
        nonlocal busy
        for _ in range(times):
            busy += 1

    put(2)
    cuda_arrays.check(cuda_arrays.RUNTIME.cudaDeviceSynchronize())
    return put


def sides(library, chain, given):
    """Yields a new stream on which the test's operations were run once, so that loading and allocation are done."""
    side = library.new_stream()
    with library.on(side):
        frame = library.put(given)
        for _ in range(8):
            library.copy(frame, library.put(given))
            _ = chain(frame) * 2
            chain(frame, out=frame * 0)
    side.synchronize()
    return side


def test_the_present_stream_is_kept_to_and_nothing_is_waited_for(chain, images, library, delay):
    old, new, later = (library.put(image) for image in images[:3])
    side = sides(library, chain, images[0])
    frame = library.put(images[0])
    out = library.put(np.zeros_like(images[0]))
    cuda_arrays.check(cuda_arrays.RUNTIME.cudaDeviceSynchronize())
    with library.on(side):
        delay()
        library.copy(frame, new)  # an earlier read would see the old pixels
        made = chain(frame)
        assert chain(frame, out=out) is out
        running = not library.done(side)
        library.copy(frame, later)  # a later read would see the next pixels
        doubled, copied = made * 2, out * 1
    assert running, "the call has waited for what it was put behind"
    side.synchronize()
    expected = chain(images[1])
    for one, wanted in ((made, expected), (out, expected), (copied, expected), (doubled, 2 * expected)):
        assert library.get(one).tobytes() == wanted.tobytes()
    assert library.get(chain(frame)).tobytes() == chain(images[2]).tobytes()


@pytest.mark.parametrize("as_number", [False, True])
def test_a_stream_that_is_named_waits_for_the_present_one(chain, images, library, delay, as_number):
    side = sides(library, chain, images[0])
    named = library.number(side) if as_number else side
    frame, new, later = (library.put(image) for image in images[:3])
    _ = chain(frame, stream=named) * 2
    cuda_arrays.check(cuda_arrays.RUNTIME.cudaDeviceSynchronize())
    delay()
    library.copy(frame, new)
    made = chain(frame, stream=named)  # on that stream, after the work on this one
    doubled = made * 2  # on this stream, after the work on that one
    assert library.get(doubled).tobytes() == (2 * chain(images[1])).tobytes()
    out = library.put(np.zeros_like(images[0]))
    delay()
    library.copy(frame, later)
    assert chain(frame, out=out, stream=named) is out
    side.synchronize()  # an output is ordered by the named stream
    assert library.get(out).tobytes() == chain(images[2]).tobytes()


def test_the_default_stream_is_kept_to(chain, images, library, delay):
    for stream in (None, 0, 1, library.default_stream()):
        frame, new = library.put(images[0]), library.put(images[1])
        _ = chain(frame, stream=stream) * 2
        cuda_arrays.check(cuda_arrays.RUNTIME.cudaDeviceSynchronize())
        delay(100)
        library.copy(frame, new)
        doubled = chain(frame, stream=stream) * 2
        assert library.get(doubled).tobytes() == (2 * chain(images[1])).tobytes()


def test_each_thread_has_its_present_stream(images, library):
    expected = [ss.speckle(image, output="contrast", backend="cuda").tobytes() for image in images]
    wrong = []

    def work(first):
        try:
            with ss.Chain("speckle:output=contrast", backend="cuda") as chain, library.on(library.new_stream()):
                for number in range(first, first + 100):
                    frame = library.put(images[number % 8])
                    for _ in range(5):
                        frame = frame * 1
                    if library.get(chain(frame) * 1).tobytes() != expected[number % 8]:
                        wrong.append(number)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_memory_outlives_its_chain_and_goes_back_in_order(images, library, delay):
    expected = ss.speckle(images[0], output="contrast", backend="cuda").tobytes()
    frames = [library.put(image) for image in images]
    cuda_arrays.check(cuda_arrays.RUNTIME.cudaDeviceSynchronize())
    side = library.new_stream()
    with ss.Chain("speckle:output=contrast", backend="cuda") as chain, library.on(side):
        made = [chain(frames[0]) for _ in range(4)]
        delay(100)
        last = made[0] * 1
        del made[0]  # while the GPU has not read it yet
        others = [chain(frame) for frame in frames[1:]]
    side.synchronize()
    del side, chain
    gc.collect()
    assert library.get(last).tobytes() == expected
    assert all(library.get(one).tobytes() == expected for one in made)
    del made, others
    gc.collect()
    cuda_arrays.check(cuda_arrays.RUNTIME.cudaDeviceSynchronize())


# --- what is refused ---

def test_a_recorder_refuses_memory_of_a_gpu(images, library, tmp_path):
    with ss.Recorder(tmp_path / "made.tiff") as recorder:
        recorder.push(images[0])
        with pytest.raises(ss.UsageError, match="lies in memory of a device"):
            recorder.push(library.put(images[0]))


# --- of PyTorch alone ---

def test_a_tensor_that_requires_gradients_is_refused(chain, images, torch):
    frame = torch.put(images[0]).requires_grad_()
    refused(chain, frame, "The frame does not lend its memory: Can't export tensors that require gradient")
    assert torch.get(chain(frame.detach())).tobytes() == chain(images[0]).tobytes()


def test_tensors_on_the_host_are_taken_and_given(chain, images, torch):
    """With a chain on a GPU, a host tensor gives a host result, page-locked or not."""
    expected = chain(images[0])
    given = torch.module.from_numpy(images[0].copy())
    locked = chain.empty(images[0].shape, "float32")
    for frame in (given, given.pin_memory(), torch.module.from_numpy(locked)):
        frame.copy_(given)
        made = chain(frame)
        assert isinstance(made, torch.kind) and made.device.type == "cpu"
        assert made.numpy().tobytes() == expected.tobytes()
        out = torch.module.zeros_like(given)
        assert chain(frame, out=out) is out
        assert out.numpy().tobytes() == expected.tobytes()
    assert torch.module.from_numpy(locked).is_pinned()
    out = torch.module.zeros(HEIGHT, WIDTH).pin_memory()
    place = out.data_ptr()
    assert chain(torch.put(images[0]), out=out) is out and out.data_ptr() == place
    assert out.numpy().tobytes() == expected.tobytes()


@pytest.mark.parametrize("with_output", [True, False])
def test_a_stream_that_is_captured_is_refused(chain, images, torch, with_output):
    frame = torch.put(images[0])
    more = {"out": torch.module.zeros_like(frame)} if with_output else {}
    expected = torch.get(chain(frame, **more)).tobytes()
    chain.result  # no work is pending
    graph, side = torch.module.cuda.CUDAGraph(), torch.new_stream()
    torch.module.cuda.synchronize()
    refusal = None
    with torch.module.cuda.graph(graph, stream=side, capture_error_mode="relaxed"):
        _ = frame + 1
        try:
            chain(frame, **more)
        except ss.UsageError as error:
            refusal = str(error)
    assert refusal and "is being captured into a graph, which a chain cannot be part of" in refusal
    graph.replay()
    torch.module.cuda.synchronize()
    assert torch.get(chain(frame, **more)).tobytes() == expected


# --- JAX ---

def test_arrays_of_jax_on_a_gpu_give_arrays_of_jax(chain, images):
    jax = pytest.importorskip("jax", reason="jax is not installed", exc_type=ImportError)
    if jax.default_backend() != "gpu":
        pytest.skip("jax finds no GPU")
    for image in (images[0], images[0].astype(np.uint8), images[0].astype(np.uint16)):
        frame = jax.device_put(image)
        made = chain(frame)
        assert isinstance(made, jax.Array) and made.devices() == frame.devices()
        assert np.asarray(made * 2).tobytes() == (2 * chain(image)).tobytes()
    made = ss.speckle(jax.device_put(images[:3]), output="contrast", backend="cuda")
    assert isinstance(made, jax.Array)
    assert np.asarray(made).tobytes() == ss.speckle(images[:3], output="contrast", backend="cuda").tobytes()

    @jax.jit
    def late(image, busy):  # the result with `busy` is 0, but unknown in advance
        busy = jax.lax.fori_loop(0, 400, lambda _, held: held + image[0, 0] * 0, busy)
        return image + busy[-1]

    busy = jax.numpy.zeros(1 << 26, jax.numpy.float32)
    late(jax.device_put(images[0]), busy).block_until_ready()
    for image in images:
        frame = late(jax.device_put(image), busy)
        assert np.asarray(chain(frame) * 2).tobytes() == (2 * chain(image)).tobytes()
