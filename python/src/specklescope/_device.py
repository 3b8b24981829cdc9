"""Arrays of other libraries: reads them by their protocols, and returns results as arrays of the same library. GPU
memory is used in the order of the caller's stream."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

import numpy

from . import _core
from ._errors import UsageError

_TYPES = {"uint8": 0, "uint16": 1, "float32": 2}
_NAMES = tuple(_TYPES)
_TYPESTR = ("|u1", "<u2", "<f4")
_BYTES = (1, 2, 4)
_KINDS = {"i": "int", "u": "uint", "f": "float", "c": "complex", "b": "bool"}
_CUDA = (2, 13)  # kDLCUDA, kDLCUDAManaged
_DEFAULT, _OF_THREAD = 1, 2  # the default stream, and the per-thread default stream, in both protocols
_HANDLES = ("cuda_stream", "ptr", "handle")  # attributes with the stream number in PyTorch, CuPy and Numba


def on_device(array):
    """True if the array reports that it is on a CUDA GPU."""
    if hasattr(array, "__dlpack_device__"):
        return int(array.__dlpack_device__()[0]) in _CUDA
    return hasattr(array, "__cuda_array_interface__")


def library_of(array):
    """The loaded module of the array, torch or cupy; None: another library."""
    name = type(array).__module__.partition(".")[0]
    return sys.modules.get(name) if name in ("torch", "cupy") else None


def namespace_of(array):
    """The module with from_dlpack() for this library: from the array API standard (JAX), or library_of(); None: unknown."""
    if isinstance(array, numpy.ndarray) or not hasattr(array, "__dlpack__"):
        return None
    namespace = array.__array_namespace__() if hasattr(array, "__array_namespace__") else library_of(array)
    return namespace if hasattr(namespace, "from_dlpack") else None


def lent_to_its_library(made, given):
    """Returns a result as an array of the library of `given`, in the same memory; unchanged if the library is unknown."""
    namespace = namespace_of(given)
    return made if namespace is None else namespace.from_dlpack(made)


def empty(shape, kind):
    """A NumPy array that JAX accepts without a copy: its address is a multiple of 64."""
    dtype = numpy.dtype(_NAMES[kind])
    room = numpy.empty(dtype.itemsize * int(numpy.prod(shape)) + 63, numpy.uint8)
    begin = -room.ctypes.data % 64
    return room[begin:begin + room.nbytes - 63].view(dtype).reshape(shape)


def process_lent(chain, frame, facts):
    """Calls a chain with a host array of another library."""
    if getattr(frame, "requires_grad", False):
        raise UsageError("The frame lends no memory while it requires gradients, which no stage has; give frame.detach().")
    if namespace_of(frame) is None:
        return chain.process(frame, None, *facts)
    while True:
        shape, kind = chain.output(frame)
        room = empty(shape, kind)
        try:
            chain.process(frame, room, *facts)
        except UsageError:
            if chain.output(frame) == (shape, kind):
                raise
            continue  # another thread's edit has changed the shape of the result
        return lent_to_its_library(room, frame)


def stream_number(stream):
    """Number of a stream: an int, torch.cuda.Stream, cupy.cuda.Stream, or an object with __cuda_stream__."""
    if hasattr(stream, "__cuda_stream__"):
        told = stream.__cuda_stream__
        stream = (told() if callable(told) else told)[1]
    else:
        for name in _HANDLES:
            if hasattr(stream, name):
                stream = getattr(stream, name)
                break
    try:
        number = int(stream)
    except (TypeError, ValueError):
        number = -1
    if number < 0:
        raise UsageError(f"The stream is of the type {type(stream).__name__}; allowed: a stream of PyTorch or CuPy, an object "
                         "with __cuda_stream__, the number of a cudaStream_t.")
    return number or _DEFAULT


def is_number(stream):
    """True if it does not keep a stream alive."""
    return not any(hasattr(stream, name) for name in ("__cuda_stream__", *_HANDLES))


def stream_of(array):
    """Default stream of an array: the stream's object, or its number."""
    library = library_of(array)
    if library is not None and library.__name__ == "torch":
        return library.cuda.current_stream(array.device)
    if library is not None:
        return library.cuda.get_current_stream()
    interface = getattr(array, "__cuda_array_interface__", None)
    told = interface.get("stream") if interface else None
    return _DEFAULT if told is None else told


def _by_interface(array, stream, which, chosen):
    interface = array.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise UsageError(f"{which} has a mask, which no stage knows; fill what is masked.")
    address, read_only = interface["data"]
    kind, size = interface["typestr"][1], int(interface["typestr"][2:])
    name = f"{_KINDS.get(kind, kind)}{8 * size}"
    if interface["typestr"][0] == ">" and size > 1:
        name += " in another byte order"
    shape = tuple(interface["shape"])
    strides = interface.get("strides")
    if strides is not None:
        if any(stride % size for stride in strides):
            raise UsageError(f"{which} has rows {strides[0]} bytes apart, no multiple of a sample's {size}; give a contiguous "
                             "array.")
        strides = tuple(stride // size for stride in strides)
    made_on = interface.get("stream")
    order = stream if made_on is None or chosen else stream_number(made_on)
    return address, shape, strides, name, read_only, array, order


def _says_all_by_interface(array):
    """True for arrays to read by __cuda_array_interface__. False for PyTorch and CuPy, and for JAX, whose interface
    names no stream: DLPack orders it."""
    if library_of(array) is not None or not hasattr(array, "__cuda_array_interface__"):
        return False
    interface = array.__cuda_array_interface__
    return not hasattr(array, "__dlpack__") or interface.get("stream") is not None or interface.get("mask") is not None


def _by_dlpack(array, stream, which, writes):
    device = array.__dlpack_device__()
    if int(device[0]) not in _CUDA:
        raise UsageError(f"{which} lies in memory of kind {int(device[0])} of DLPack; allowed: the host (1) and CUDA (2).")
    try:
        try:
            capsule = array.__dlpack__(stream=stream)
        except BufferError:
            if writes:
                raise
            capsule = array.__dlpack__(stream=stream, max_version=(1, 0))  # version 1 has the read-only flag
    except (BufferError, RuntimeError, TypeError) as error:
        raise UsageError(f"{which} does not lend its memory: {str(error).splitlines()[0].rstrip('.')}; give an array that "
                         "does (of PyTorch: detach()), or one on the host.") from error
    told = _core.read_dlpack(capsule)
    if not told:
        raise UsageError(f"{which} gives out something that is no tensor of DLPack; give one of CuPy or PyTorch.")
    address, shape, strides, name, _, _, holder = told
    return address, shape, strides, name, False, (array, holder), stream


def _pitch(shape, strides, size, which):
    """Pitch in bytes of an array with contiguous samples."""
    samples = shape[1] * (shape[2] if len(shape) == 3 else 1)
    if strides is None or 0 in shape:
        return samples * size
    across, inner = (shape[2], strides[2]) if len(shape) == 3 else (1, 1)
    wrong = inner != 1 or (shape[1] > 1 and strides[1] != across) or (shape[0] > 1 and strides[0] < samples)
    if wrong:
        raise UsageError(f"{which}'s samples do not follow each other in a row of the GPU's memory; give a contiguous array "
                         "(of PyTorch: contiguous(), of CuPy: cupy.ascontiguousarray).")
    return strides[0] * size if shape[0] > 1 else samples * size


def pixels_of(array, stream, which, writes=False, chosen=False):
    """A GPU array as the library takes it. `stream`: the stream that orders its use; `chosen`: it was given by the
    caller and overrides the array's own."""
    if _says_all_by_interface(array):
        try:
            told = _by_interface(array, stream, which, chosen)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise UsageError(f"{which}'s __cuda_array_interface__ is not of that form ({type(error).__name__}: {error}); give an array "
                             "of CuPy, PyTorch or Numba.") from error
    else:
        told = _by_dlpack(array, stream, which, writes)
    address, shape, strides, name, read_only, holder, order = told
    if name not in _TYPES:
        raise UsageError(f"{which} is an array of {name}; allowed: uint8, uint16, float32: convert it with astype or to().")
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] != 3):
        raise UsageError(f"{which} has the shape {tuple(shape)}; allowed: (height, width), or (height, width, 3) for colour.")
    if max(shape) >= 1 << 30:
        raise UsageError(f"{which} has the shape {tuple(shape)}; allowed: up to 65536 each way.")
    if writes and read_only:
        raise UsageError("The output is read-only; give an array that may be written, or leave it out for a new one.")
    kind = _TYPES[name]
    return _core.DevicePixels(tuple(shape), kind, order, address, _pitch(shape, strides, _BYTES[kind], which), holder)


def _holder_of(stream):
    """CuPy's current stream, if it is this one: it ends with its object. PyTorch's streams never end."""
    cupy = sys.modules.get("cupy")
    if cupy is None or stream in (_DEFAULT, _OF_THREAD):
        return None
    present = cupy.cuda.get_current_stream()
    return present if present.ptr == stream else None


class DeviceArray:
    """A result in GPU memory, for consumers of __cuda_array_interface__ or DLPack: cupy.asarray(it),
    torch.from_dlpack(it), numba.cuda.as_cuda_array(it). It is ready in the order of `stream`; None: it is ready. Results
    of a stream with memory="device" have this type too; their rows may have padding, see `strides` (in bytes)."""

    __slots__ = ("_memory", "_address", "_type", "_pitch", "shape", "stream", "__weakref__")

    def __init__(self, memory: Any, address: int, shape: tuple[int, ...], kind: int, stream: int | None, pitch: int = 0) -> None:
        self._memory, self._address, self._type, self._pitch = memory, address, kind, pitch
        self.shape, self.stream = shape, stream

    @property
    def dtype(self) -> str:
        """"float32"."""
        return _NAMES[self._type]

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in bytes of rows, pixels and channels."""
        size = _BYTES[self._type]
        inner = (3 * size, size) if len(self.shape) == 3 else (size,)
        return (self._pitch or self.shape[1] * inner[0], *inner)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        apart = self.strides[0] != self.shape[1] * self.strides[1]
        return {"shape": self.shape, "typestr": _TYPESTR[self._type], "data": (self._address, False),
                "strides": self.strides if apart else None, "stream": self.stream, "version": 3}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise UsageError("The result lies in memory of a GPU, where NumPy has no arrays; take it with torch.from_dlpack or "
                         "cupy.asarray, or let results come on the host (memory=\"host\", backend=\"cpu\").")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, self._memory.device()

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("specklescope lends memory of the GPU where it lies, and copies nothing.")
        if stream is None or stream >= 0:
            number = _DEFAULT if stream is None else stream_number(stream)
            self._memory.order(number, _holder_of(number))
        strides = tuple(step // _BYTES[self._type] for step in self.strides)
        return _core.lend_dlpack(self._address, self.shape, strides, self._type, self._memory.device(), self)

    def __repr__(self) -> str:
        return f"<specklescope.DeviceArray {self.shape} {self.dtype} on GPU {self._memory.device()}>"


def new_output(chain, pixels, stream, keeps):
    """Allocates the result of `chain` for `pixels`. It is freed in the order of the stream, which `keeps` must keep
    alive; if `keeps` is None, when the GPU is idle."""
    shape, kind = chain.output(pixels)
    memory, address = chain.memory(shape, kind, stream, keeps)
    return DeviceArray(memory, address, shape, kind, stream)


def process(chain, frame, out, stream, facts):
    """Calls a chain whose frame or output is on a GPU."""
    given = frame if on_device(frame) else out
    order = stream_of(given) if stream is None else stream
    number = stream_number(order)
    # A stream given as a number must live as long as the array that names it, or the process; otherwise its
    # lifetime is unknown.
    keeps = None if stream is not None and is_number(stream) and number > _OF_THREAD else (order, given)
    pixels = pixels_of(frame, number, "The frame") if on_device(frame) else frame
    if out is not None:
        room = out
        if on_device(out):  # a frame waits for the stream that made it; a result is ordered by the requested stream
            room = pixels_of(out, number, "The output", writes=True, chosen=stream is not None)
        chain.process(pixels, room, *facts)
        return out
    while True:
        made = new_output(chain, pixels, number, keeps)
        room = _core.DevicePixels(made.shape, made._type, number, made._address, 0, made)
        try:
            chain.process(pixels, room, *facts)
        except UsageError:
            if chain.output(pixels) == (made.shape, made._type):
                raise
            continue  # another thread's edit has changed the shape of the result
        return lent_to_its_library(made, frame)
