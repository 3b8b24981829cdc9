"""GPU arrays made only with the CUDA runtime, so that only the protocols are involved."""
import ctypes as c
import glob
import os
import time

import numpy as np

BLOCKING, NON_BLOCKING = 0, 1


def load():
    """(the CUDA runtime, "") with a GPU; otherwise (None, reason)."""
    names = ["libcudart.so.13", "libcudart.so.12", "libcudart.so"]
    names += sorted(glob.glob("/usr/local/cuda*/lib64/libcudart.so*"))
    for name in names:
        try:
            runtime = c.CDLL(name)
            break
        except OSError:
            continue
    else:
        return None, "no GPU: the CUDA runtime library is not there"
    runtime.cudaGetErrorString.restype = c.c_char_p
    count = c.c_int(0)
    status = runtime.cudaGetDeviceCount(c.byref(count))
    if status != 0 or count.value == 0:
        return None, f"no GPU: {runtime.cudaGetErrorString(status).decode()}"
    return runtime, ""


RUNTIME, WHY_NOT = load()


def check(status):
    assert status == 0, RUNTIME.cudaGetErrorString(status)


def new_stream():
    stream = c.c_void_p()
    check(RUNTIME.cudaStreamCreateWithFlags(c.byref(stream), NON_BLOCKING))
    return stream.value


class Memory:
    def __init__(self, size):
        address = c.c_void_p()
        check(RUNTIME.cudaMalloc(c.byref(address), c.c_size_t(max(size, 1))))
        self.address = address.value

    def __del__(self):
        RUNTIME.cudaFree(c.c_void_p(self.address))


class ByInterface:
    """Offers only __cuda_array_interface__."""

    def __init__(self, array, stream=None, read_only=False, strides=None):
        array = np.asarray(array)
        self.shape, self.dtype, self.stream, self.read_only = array.shape, array.dtype, stream, read_only
        self.strides = strides
        self.memory = Memory(array.nbytes)
        check(RUNTIME.cudaMemcpy(c.c_void_p(self.memory.address), c.c_void_p(np.ascontiguousarray(array).ctypes.data),
                                 c.c_size_t(array.nbytes), 1))

    @property
    def __cuda_array_interface__(self):
        told = {"shape": self.shape, "typestr": self.dtype.str, "data": (self.memory.address, self.read_only), "version": 3,
                "strides": self.strides}
        if self.stream is not None:
            told["stream"] = self.stream
        return told


class Tensor(c.Structure):
    """dlpack.h: DLManagedTensor with its DLTensor first."""

    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32),
                ("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64), ("manager", c.c_void_p),
                ("deleter", c.c_void_p)]


def capsule_of(tensor):
    new = c.pythonapi.PyCapsule_New
    new.restype, new.argtypes = c.py_object, (c.c_void_p, c.c_char_p, c.c_void_p)
    return new(c.addressof(tensor), b"dltensor", None)


def tensor_in(capsule):
    """Contents of a capsule, which must be kept alive while they are read."""
    get = c.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = c.c_void_p, (c.py_object, c.c_char_p)
    return Tensor.from_address(get(capsule, b"dltensor"))


KEPT = []  # the data of a tensor is valid until its deleter is called; these tensors have no deleter, so it is kept forever


class ByDlpack:
    """Offers only DLPack; stores the requested stream."""

    def __init__(self, address, shape, dtype, device=(2, 0), strides=None):
        dtype = np.dtype(dtype)
        self.device, self.asked = device, []
        self.sides = (c.c_int64 * len(shape))(*shape)
        self.steps = None if strides is None else (c.c_int64 * len(shape))(*strides)
        self.tensor = Tensor(data=address, device_type=device[0], device_id=device[1], ndim=len(shape),
                             code={"u": 1, "i": 0, "f": 2, "c": 5, "b": 6}[dtype.kind], bits=8 * dtype.itemsize, lanes=1,
                             shape=self.sides, strides=self.steps)
        KEPT.append((self.tensor, self.sides, self.steps))

    def __dlpack__(self, *, stream=None, **_):
        self.asked.append(stream)
        return capsule_of(self.tensor)

    def __dlpack_device__(self):
        return self.device


def read(array):
    """An array with __cuda_array_interface__ as NumPy, after the GPU has finished."""
    told = array.__cuda_array_interface__
    made = np.empty(told["shape"], told["typestr"])
    row = made.strides[0]
    apart = told["strides"][0] if told.get("strides") else row
    check(RUNTIME.cudaDeviceSynchronize())
    check(RUNTIME.cudaMemcpy2D(c.c_void_p(made.ctypes.data), c.c_size_t(row), c.c_void_p(told["data"][0]), c.c_size_t(apart),
                               c.c_size_t(row), c.c_size_t(made.shape[0]), 2))
    return made


class Locked:
    """Page-locked host memory: a copy into it is asynchronous."""

    def __init__(self, like):
        self.like, self.address = like, c.c_void_p()
        check(RUNTIME.cudaMallocHost(c.byref(self.address), c.c_size_t(like.nbytes)))

    def copy_later(self, array, stream):
        """Pixels of a GPU array with contiguous rows, at the time when the stream reaches the copy."""
        told = array.__cuda_array_interface__
        assert told["strides"] is None
        check(RUNTIME.cudaMemcpyAsync(self.address, c.c_void_p(told["data"][0]), c.c_size_t(self.like.nbytes), 2,
                                      c.c_void_p(stream)))

    def read(self):
        made = np.empty_like(self.like)
        c.memmove(made.ctypes.data, self.address, made.nbytes)
        return made

    def __del__(self):
        RUNTIME.cudaFreeHost(self.address)


class Gate:
    """Blocks a stream until it is opened, at most a minute."""

    def __init__(self, stream):
        self.open = False

        @c.CFUNCTYPE(None, c.c_void_p)
        def hold(_):
            for _ in range(60000):
                if self.open:
                    return
                time.sleep(0.001)

        self.hold = hold  # valid as long as it may be called
        check(RUNTIME.cudaLaunchHostFunc(c.c_void_p(stream), hold, None))


if os.environ.get("SPECKLESCOPE_REQUIRE_GPU") == "1" and RUNTIME is None:
    raise RuntimeError(f"SPECKLESCOPE_REQUIRE_GPU=1, but {WHY_NOT}")
