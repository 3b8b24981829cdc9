"""GPU arrays: accepted inputs, ordering by streams, types of results, refused inputs."""
import ctypes
import gc
import time
import weakref

import numpy as np
import pytest

import specklescope as ss
from specklescope import _device

import cuda_arrays
from cuda_arrays import ByDlpack, ByInterface, read

needs_gpu = pytest.mark.skipif(cuda_arrays.RUNTIME is None, reason=cuda_arrays.WHY_NOT)


class Claims:
    """Reports that it is on a GPU; its address must not be used."""

    def __init__(self, shape=(8, 9), typestr="<u2", **more):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (4096, False), "version": 3, **more}


@pytest.fixture
def on_host():
    with ss.Chain("speckle:output=contrast", backend="cpu") as made:
        yield made


def refused(chain, frame, sentence, **more):
    with pytest.raises(ss.UsageError) as error:
        chain(frame, **more)
    assert sentence in str(error.value), str(error.value)
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


# --- the protocols, without a GPU ---

@pytest.mark.parametrize("frame", [Claims(), ByDlpack(4096, (8, 9), np.uint16), ByDlpack(4096, (8, 9), np.uint16, (13, 0))])
def test_a_chain_on_the_cpu_refuses_memory_of_a_gpu(on_host, frame):
    with pytest.raises(ss.UsageError, match="The input lies in memory of a GPU, and this chain runs on the CPU; copy it to the host"):
        on_host(frame, out=np.zeros((8, 9), np.float32))
    with pytest.raises(ss.UsageError, match="This chain runs on the CPU and has no memory of a GPU"):
        on_host(frame)
    image = np.zeros((8, 9), np.uint16)
    refused(on_host, image, "The output lies in memory of a GPU, and this chain runs on the CPU", out=Claims((8, 9), "<f4"))


@pytest.mark.parametrize("frame, sentence", [
    (Claims(typestr="<f8"), "The frame is an array of float64; allowed: uint8, uint16, float32"),
    (Claims(typestr=">u2"), "The frame is an array of uint16 in another byte order; allowed:"),
    (Claims(typestr="<c8"), "The frame is an array of complex64; allowed:"),
    (Claims((9,)), "The frame has the shape (9,); allowed: (height, width), or (height, width, 3) for colour."),
    (Claims((8, 9, 4)), "The frame has the shape (8, 9, 4); allowed:"),
    (Claims((0, 9)), "The input is 9×0 pixels; allowed: 1…65536 each way."),
    (Claims((1 << 40, 9)), "The frame has the shape (1099511627776, 9); allowed: up to 65536 each way."),
    (Claims(strides=(2, 16)), "The frame's samples do not follow each other in a row of the GPU's memory; give a contiguous"),
    (Claims(strides=(-18, 2)), "The frame's samples do not follow each other"),
    (Claims(strides=(19, 2)), "The frame has rows 19 bytes apart, no multiple of a sample's 2"),
    (Claims(mask=np.zeros(1)), "The frame has a mask, which no stage knows; fill what is masked."),
    (ByDlpack(4096, (8, 9), np.int32), "The frame is an array of int32; allowed:"),
    (ByDlpack(4096, (8, 9), np.bool_), "The frame is an array of bool8; allowed:"),
    (ByDlpack(4096, (8, 9), np.complex64), "The frame is an array of complex64; allowed:"),
    (ByDlpack(4096, (8, 9), np.uint16, strides=(1, 8)), "The frame's samples do not follow each other"),
    (ByDlpack(4096, (8, 9, 3), np.uint8, strides=(27, 1, 9)), "The frame's samples do not follow each other"),
])
def test_what_is_no_frame_is_refused(on_host, frame, sentence):
    refused(on_host, frame, sentence)


def test_what_lends_nothing_is_refused(on_host):
    class Needs(ByDlpack):
        def __dlpack__(self, **_):
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")

    refused(on_host, Needs(4096, (8, 9), np.uint16), "The frame does not lend its memory: Can't export tensors that require gradient")

    class Odd(ByDlpack):
        def __dlpack__(self, **_):
            return 7

    refused(on_host, Odd(4096, (8, 9), np.uint16), "The frame gives out something that is no tensor of DLPack")


def test_an_output_that_is_read_only_is_refused(on_host):
    fixed = Claims((8, 9), "<f4")
    fixed.__cuda_array_interface__["data"] = (4096, True)
    refused(on_host, Claims(), "The output is read-only; give an array that may be written", out=fixed)


def test_rows_may_lie_apart():
    told = _device.pixels_of(Claims(strides=(64, 2)), 1, "The frame")
    assert isinstance(told, ss._core.DevicePixels)
    assert _device._pitch((8, 9), (32, 1), 2, "The frame") == 64
    assert _device._pitch((1, 9), (5, 1), 2, "The frame") == 18
    assert _device._pitch((8, 1), (32, 7), 2, "The frame") == 64
    assert _device._pitch((8, 9, 3), None, 4, "The frame") == 108


def test_streams_are_known_by_what_libraries_call_them():
    class Torch:
        cuda_stream = 0

    class Cupy:
        ptr = 77

    class Protocol:
        def __cuda_stream__(self):
            return 0, 99

    assert [_device.stream_number(one) for one in (Torch(), Cupy(), Protocol(), 5, 0, np.int64(6))] == [1, 77, 99, 5, 1, 6]
    for wrong in ("s", -1, None, object()):
        with pytest.raises(ss.UsageError, match="The stream is of the type .*; allowed: a stream of PyTorch or CuPy"):
            _device.stream_number(wrong)
    assert _device.stream_of(Claims()) == 1
    assert _device.stream_of(Claims(stream=7)) == 7
    assert _device.stream_of(Claims(stream=None)) == 1


def test_a_producer_is_asked_to_be_ready_on_the_stream(on_host):
    frame = ByDlpack(4096, (8, 9), np.uint16)
    for stream, expected in ((None, 1), (5, 5), (0, 1)):
        with pytest.raises(ss.UsageError):
            on_host(frame, stream=stream)
        assert frame.asked[-1] == expected


def test_a_stack_of_unknown_arrays_on_a_gpu_is_refused():
    class Stack(Claims):
        shape = (2, 8, 9)

        def __iter__(self):
            return iter([np.zeros((8, 9), np.uint8)] * 2)

    with pytest.raises(ss.UsageError, match="The image is a stack in memory of a GPU; give its frames one by one"):
        ss.speckle(Stack((2, 8, 9)), backend="cpu")


# --- on a GPU ---

@pytest.fixture
def chain():
    with ss.Chain("speckle:output=contrast", backend="cuda") as made:
        yield made


def by_dlpack(array, strides=None):
    held = ByInterface(array)
    lent = ByDlpack(held.memory.address, array.shape, array.dtype, strides=strides)
    lent.held = held
    return lent


@needs_gpu
@pytest.mark.parametrize("offer", [ByInterface, by_dlpack])
@pytest.mark.parametrize("shape", [(48, 64), (47, 61), (40, 50, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_device_frames_give_the_bytes_of_the_host(chain, rng, offer, shape, dtype):
    for _ in range(6):  # more than can be pending at once
        image = rng.integers(0, 200, shape).astype(dtype)
        made = chain(offer(image))
        assert isinstance(made, ss.DeviceArray) and made.dtype == "float32" and made.shape == shape[:2]
        np.testing.assert_array_equal(read(made), chain(image))
        assert made.__dlpack_device__() == (2, 0) and "on GPU 0" in repr(made)


@needs_gpu
def test_device_out_is_written_and_returned(chain, rng):
    image = rng.integers(0, 4096, (48, 64), np.uint16)
    for out in (ByInterface(np.zeros((48, 64), np.float32)), by_dlpack(np.zeros((48, 64), np.float32))):
        assert chain(ByInterface(image), out=out) is out
        np.testing.assert_array_equal(read(getattr(out, "held", out)), chain(image))
    host = np.zeros((48, 64), np.float32)
    assert chain(ByInterface(image), out=host) is host
    np.testing.assert_array_equal(host, chain(image))
    out = ByInterface(np.zeros((48, 64), np.float32))
    assert chain(image, out=out) is out
    np.testing.assert_array_equal(read(out), host)
    refused(chain, ByInterface(image), "The output is 63×48 f32, and the chain makes 64×48 f32",
            out=ByInterface(np.zeros((48, 63), np.float32)))


@needs_gpu
def test_device_wrong_memory_is_refused(chain):
    host = np.zeros((8, 9), np.uint16)
    lying = Claims((8, 9), "<u2")
    lying.__cuda_array_interface__["data"] = (host.ctypes.data, False)
    refused(chain, lying, "The input is said to lie on a GPU, and its first byte is no address of one")
    short = ByInterface(np.zeros((8, 9), np.uint16), strides=(1 << 32, 2))
    refused(chain, short, "its last byte is no address of one; give memory of cudaMalloc or of a pool, all of it in one block.")
    frame = ByInterface(np.zeros((8, 8), np.float32))
    refused(chain, frame, "The output shares memory with the input", out=frame)


@needs_gpu
def test_device_order_is_that_of_the_callers_stream(chain, rng):
    """A host function blocks the stream: the call returns, and reads data that is copied after this function."""
    runtime = cuda_arrays.RUNTIME
    stream = cuda_arrays.new_stream()
    images = rng.integers(0, 4096, (2, 48, 64), np.uint16)
    frame, out = ByInterface(images[0], stream), ByInterface(np.zeros((48, 64), np.float32), stream)
    chain(frame, out=out)
    cuda_arrays.check(runtime.cudaDeviceSynchronize())
    locked = ctypes.c_void_p()
    cuda_arrays.check(runtime.cudaMallocHost(ctypes.byref(locked), ctypes.c_size_t(images[1].nbytes)))
    ctypes.memmove(locked, images[1].ctypes.data, images[1].nbytes)
    gate = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def hold(_):
        for _ in range(60000):
            if gate:
                return
            time.sleep(0.001)

    cuda_arrays.check(runtime.cudaLaunchHostFunc(ctypes.c_void_p(stream), hold, None))
    cuda_arrays.check(runtime.cudaMemcpyAsync(ctypes.c_void_p(frame.memory.address), locked, ctypes.c_size_t(images[1].nbytes), 1,
                                              ctypes.c_void_p(stream)))
    made = chain(frame, out=out)
    assert made is out
    assert runtime.cudaStreamQuery(ctypes.c_void_p(stream)) == 600, "cudaErrorNotReady: the gate is closed"
    gate.append(True)
    np.testing.assert_array_equal(read(out), chain(images[1]))
    cuda_arrays.check(runtime.cudaFreeHost(locked))


@needs_gpu
@pytest.mark.parametrize("closes", [True, False])
def test_device_end_of_a_chain_lets_python_in_and_frames_go(rng, closes):
    """A host function on the caller's stream needs Python: a thread that ends the chain waits for it and must not hold
    the GIL."""
    stream = cuda_arrays.new_stream()
    frame = ByInterface(rng.integers(0, 4096, (48, 64), np.uint16), stream)
    out = ByInterface(np.zeros((48, 64), np.float32), stream)
    chain = ss.Chain("speckle:output=contrast", backend="cuda")
    chain(frame, out=out)
    cuda_arrays.check(cuda_arrays.RUNTIME.cudaDeviceSynchronize())
    run = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def hold(_):
        time.sleep(3)
        run.append(True)

    cuda_arrays.check(cuda_arrays.RUNTIME.cudaLaunchHostFunc(ctypes.c_void_p(stream), hold, None))
    chain(frame, out=out)
    kept = weakref.ref(frame)
    del frame
    assert kept() is not None, "a GPU may be at it"
    if closes:
        chain.close()
        assert run and kept() is None
        with pytest.raises(ss.UsageError, match="The chain has been closed"):
            chain.result
    del chain
    gc.collect()
    assert run and kept() is None


@needs_gpu
def test_device_results_are_lent_by_both_protocols(chain, rng):
    image = rng.integers(0, 4096, (48, 64), np.uint16)
    expected = chain(image)
    stream = cuda_arrays.new_stream()
    made = chain(ByInterface(image), stream=stream)
    assert made.stream == made.__cuda_array_interface__["stream"] == stream
    for asked in (None, 1, 2, stream, -1):
        capsule = made.__dlpack__(stream=asked)
        tensor = cuda_arrays.tensor_in(capsule)
        assert (tensor.data, tensor.device_type, tensor.device_id) == (made.__cuda_array_interface__["data"][0], 2, 0)
        assert (tensor.code, tensor.bits, tensor.lanes, tensor.shape[:2]) == (2, 32, 1, [48, 64])
        del capsule
    with pytest.raises(BufferError):
        made.__dlpack__(dl_device=(1, 0))
    # the result of one chain is the frame of another; arrays outlive their chain
    twice = ss.Chain("gamma:gamma=1", backend="cuda")(made)
    chain.close()
    del made
    gc.collect()
    np.testing.assert_array_equal(read(twice), expected)


@needs_gpu
def test_device_stage_functions(rng):
    image = rng.integers(0, 4096, (48, 64), np.uint16)
    np.testing.assert_array_equal(read(ss.speckle(ByInterface(image), radius=2)), ss.speckle(image, radius=2, backend="cuda"))
