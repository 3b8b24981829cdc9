"""Results of a stream in GPU memory: bytes and facts equal those on the host, both protocols export them, and their
memory is reused only after the caller's streams."""
import ctypes
import gc
import weakref

import numpy as np
import pytest

import specklescope as ss
from specklescope._device import DeviceArray

import cuda_arrays
from cuda_arrays import Gate, Locked, read

needs_gpu = pytest.mark.skipif(cuda_arrays.RUNTIME is None, reason=cuda_arrays.WHY_NOT)

CHAINS = [(), ("speckle:output=contrast",), ("gamma:gamma=0.5", "crop:x=3,width=50"),
          ("average:frames=3", "speckle:output=contrast", "average:frames=4"),
          ("background:black=16", "spatiotemporal:frames=3", "gaussian")]
BOX = {"name": "box", "shape": "rectangle", "points": [[4, 5], [20, 19]]}


def scene(width=64, height=48):
    return f"synthetic:vessels?width={width}&height={height}&live=false"


# --- without a GPU ---

def test_memory_is_host_or_device():
    with pytest.raises(ss.UsageError, match="memory = gpu is not possible; allowed: host, device"):
        ss.open(scene(), memory="gpu")
    with pytest.raises(ss.UsageError, match="memory = device is not possible with backend = cpu"):
        ss.open(scene(), memory="device", backend="cpu")


@pytest.mark.skipif(cuda_arrays.RUNTIME is not None, reason="there is a GPU")
def test_memory_of_a_gpu_is_refused_without_one():
    with pytest.raises(ss.RunError, match=r"memory = device is not possible here: .*; allowed: memory = host\.$"):
        ss.open(scene(), memory="device")


def test_results_on_the_host_are_of_no_stream():
    with ss.open(scene(), frames=1, backend="cpu", memory="host") as stream:
        frame = stream.next()
        assert isinstance(frame.data, np.ndarray)
        with pytest.raises(ss.UsageError, match="This result is in host memory"):
            frame.used_on(7)
        np.testing.assert_array_equal(np.asarray(frame), frame.data)


class Pretended:
    """Memory on GPU 3 that must not be accessed."""

    def __init__(self):
        self.asked = []

    def order(self, stream, keeps):
        self.asked.append((stream, keeps))

    def device(self):
        return 3


@pytest.mark.parametrize("shape, kind, pitch, strides", [
    ((8, 9), 2, 0, None), ((8, 9), 2, 36, None), ((8, 9), 2, 256, (256, 4)), ((8, 9, 3), 0, 64, (64, 3, 1)),
    ((8, 9, 3), 1, 54, None),
])
def test_rows_that_lie_apart_are_told_by_both_protocols(shape, kind, pitch, strides):
    memory = Pretended()
    lent = DeviceArray(memory, 4096, shape, kind, None, pitch)
    size = (1, 2, 4)[kind]
    told = lent.__cuda_array_interface__
    assert told["strides"] == strides and told["stream"] is None and told["data"] == (4096, False)
    plain = np.empty(shape, lent.dtype).strides
    assert lent.strides == (strides or plain)
    for stream, expected in ((None, 1), (1, 1), (2, 2), (99, 99)):
        capsule = lent.__dlpack__(stream=stream)
        tensor = cuda_arrays.tensor_in(capsule)
        assert (tensor.data, tensor.device_type, tensor.device_id, tensor.ndim) == (4096, 2, 3, len(shape))
        assert tensor.strides[:len(shape)] == [step // size for step in lent.strides]
        assert memory.asked[-1] == (expected, None)
        del capsule
    asked = len(memory.asked)
    lent.__dlpack__(stream=-1)
    assert len(memory.asked) == asked, "who asks for no order gets none"


def test_numpy_is_told_where_a_result_lies():
    with pytest.raises(ss.UsageError, match="The result lies in memory of a GPU, where NumPy has no arrays; take it with torch"):
        np.asarray(DeviceArray(Pretended(), 4096, (8, 9), 2, None))


# --- on a GPU ---

@needs_gpu
@pytest.mark.parametrize("stages", CHAINS)
@pytest.mark.parametrize("width", [64, 61])
def test_device_results_are_those_of_the_host(stages, width):
    told = {"frames": 12, "backend": "cuda", "regions": [BOX]}
    with ss.open(scene(width), **told) as host, ss.open(scene(width), memory="device", **told) as device:
        count = 0
        for here, there in zip(host.chain(*stages), device.chain(*stages)):
            assert isinstance(there.data, ss.DeviceArray) and "on GPU 0" in repr(there.data) and "Frame" in repr(there)
            np.testing.assert_array_equal(read(there.data), here.data)
            np.testing.assert_array_equal(there.raw, here.raw)
            for name in ("sequence", "version", "quantity", "unit", "exposure_ms", "counts", "warmup", "warming_up", "position"):
                assert getattr(there, name) == getattr(here, name), name
            assert repr(there.regions) == repr(here.regions)
            with pytest.raises(ss.UsageError, match="The result lies in memory of a GPU"):
                np.asarray(there)
            count += 1
        assert count == 12


@needs_gpu
def test_device_results_are_lent_where_they_lie():
    with ss.open(scene(), frames=1, backend="cuda", memory="device") as stream:
        frame = stream.next()
    lent = frame.data
    address = lent.__cuda_array_interface__["data"][0]
    assert lent.stream is None and lent.__dlpack_device__() == (2, 0) == frame.data.__dlpack_device__()
    for asked in (None, 1, 2, cuda_arrays.new_stream(), -1):
        capsule = lent.__dlpack__(stream=asked)
        tensor = cuda_arrays.tensor_in(capsule)
        assert (tensor.data, tensor.device_type, tensor.device_id, tensor.shape[:2]) == (address, 2, 0, [48, 64])
        del capsule
    assert frame.data.__cuda_array_interface__["data"][0] == address


@needs_gpu
@pytest.mark.parametrize("named", ["used_on", "dlpack", "default"])
def test_device_results_stay_until_a_slow_stream_is_done(named):
    """A blocked stream copies a released result: other results arrive in the meantime, and none uses its memory."""
    told = {"frames": 60, "backend": "cuda"}
    expected = [frame.data.copy() for frame in ss.open(scene(), **told).chain("speckle:output=contrast")]
    slow = 0 if named == "default" else cuda_arrays.new_stream()
    gate, made, came = None, Locked(expected[3]), 0
    with ss.open(scene(), memory="device", **told) as stream:
        for frame in stream.chain("speckle:output=contrast"):
            if came == 3:
                gate = Gate(slow)
                made.copy_later(frame.data, slow)
                if named == "used_on":
                    frame.used_on(slow)
                elif named == "dlpack":
                    assert frame.data.__dlpack__(stream=slow) is not None
            del frame
            came += 1
        assert came == 60
        assert cuda_arrays.RUNTIME.cudaStreamQuery(ctypes.c_void_p(slow)) == 600, "cudaErrorNotReady: the gate is closed"
        gate.open = True
        cuda_arrays.check(cuda_arrays.RUNTIME.cudaStreamSynchronize(ctypes.c_void_p(slow)))
    np.testing.assert_array_equal(made.read(), expected[3])


@needs_gpu
def test_device_results_keep_the_streams_that_use_them():
    class Named:
        def __init__(self, number):
            self.ptr = number

    with ss.open(scene(), frames=2, backend="cuda", memory="device") as stream:
        frame = stream.next()
        name = Named(cuda_arrays.new_stream())
        frame.used_on(name)
        kept = weakref.ref(name)
        array = frame.data
        del name, frame
        gc.collect()
        assert kept() is not None, "its end would be the end of the stream"
        del array
        gc.collect()
        assert kept() is None


@needs_gpu
def test_device_results_as_tensors_of_pytorch():
    torch = pytest.importorskip("torch", reason="torch is not installed", exc_type=ImportError)
    told = {"frames": 40, "backend": "cuda"}
    expected = [frame.data.astype(np.float64).sum() for frame in ss.open(scene(61), **told).chain("speckle:output=contrast")]
    side, sums = torch.cuda.Stream(), []
    with ss.open(scene(61), memory="device", **told) as stream, torch.cuda.stream(side):
        for frame in stream.chain("speckle:output=contrast"):
            tensor = torch.from_dlpack(frame.data)
            assert tensor.device.type == "cuda" and tensor.shape == (48, 61)
            assert tensor.data_ptr() == frame.data.__cuda_array_interface__["data"][0]
            sums.append(tensor.double().sum())
            tensor.zero_()  # it belongs to the caller
    side.synchronize()
    np.testing.assert_allclose([one.item() for one in sums], expected, rtol=1e-12)


@needs_gpu
def test_device_results_as_arrays_of_cupy():
    cupy = pytest.importorskip("cupy", reason="cupy is not installed", exc_type=ImportError)
    told = {"frames": 40, "backend": "cuda"}
    expected = [frame.data.astype(np.float64).sum() for frame in ss.open(scene(), **told).chain("speckle:output=contrast")]
    sums = []
    with ss.open(scene(), memory="device", **told) as stream:
        for frame in stream.chain("speckle:output=contrast"):
            with cupy.cuda.Stream(non_blocking=True):  # ends before the frame
                array = cupy.from_dlpack(frame.data)
                sums.append(array.astype(cupy.float64).sum())
            del array
    cupy.cuda.Device().synchronize()
    np.testing.assert_allclose([one.item() for one in sums], expected, rtol=1e-12)
