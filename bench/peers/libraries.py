#!/usr/bin/env python3
"""Other libraries on the GPU: JSON rows for `specklescope bench --peers`, which adds our times.

specklescope-peers-python [FILTER]

Needs torch. NPP (of the CUDA toolkit), CV-CUDA (cvcuda-cu13 on PyPI), CuPy and torch.compile are compared where installed.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from typing import Any

BEYOND_CACHE = 400 << 20  # bytes: more than any L2 holds
ROUNDS, ROUND_MS = 15, 25.0  # as bench/peers/compare.cpp
Work = tuple[str, str, str, Callable[[Any], Any]]  # our stage, image, peer, and its function of a tensor of height × width (× 3)


def torch() -> Any:
    return importlib.import_module("torch")


def frames(image: str) -> list[Any]:
    """Random tensors, more than fit into any cache. image: such as "3840×2160 u8 RGB"."""
    size, kind, *colour = image.split(" ")
    width, height = map(int, size.split("×"))
    type_, high = {"u8": ("uint8", 255), "u16": ("uint16", 65535), "f32": ("float32", 1)}[kind]
    shape = (height, width, 3) if colour else (height, width)
    first = (torch().rand(shape) * high).to(getattr(torch(), type_)).cuda()
    return [first.clone() for _ in range(max(2, min(64, BEYOND_CACHE // (2 * first.nbytes))))]


def round_ms(call: Callable[[], Any], calls: int) -> float:
    begin, end = (torch().cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / calls


def measure(function: Callable[[Any], Any], inputs: list[Any], in_graph: bool) -> dict[str, float]:
    """Milliseconds of a call. In a CUDA graph of all calls, Python takes no time."""
    def all_frames() -> None:
        for frame in inputs:
            function(frame)

    all_frames()
    torch().cuda.synchronize()
    run: Callable[[], Any] = all_frames
    if in_graph:
        graph = torch().cuda.CUDAGraph()
        with torch().cuda.graph(graph):
            all_frames()
        run = graph.replay
    round_ms(run, 1)
    calls = max(1, int(ROUND_MS / max(round_ms(run, 1), 1e-3)))
    times = [round_ms(run, calls) / len(inputs) for _ in range(ROUNDS)]
    low, median, high = statistics.quantiles(times, n=4, method="inclusive")
    return {"median": median, "low": low, "high": high, "rounds": ROUNDS}


class NppContext(ctypes.Structure):
    """NppStreamContext of nppdefs.h."""

    _fields_ = [("stream", ctypes.c_void_p), *((name, ctypes.c_int) for name in ("device", "processors", "threads", "block")),
                ("shared", ctypes.c_size_t), *((name, ctypes.c_int) for name in ("major", "minor", "flags", "workspace"))]


class Pair(ctypes.Structure):
    """NppiSize, NppiPoint."""

    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_int)]


def npp() -> Iterator[Work]:
    library = ctypes.CDLL("libnppif.so.13")
    mask_5x5, replicate = 201, 2

    def gauss5(image: str) -> Callable[[Any], Any]:
        samples = "8u" if " u8" in image else "32f"
        function = library[f"nppiFilterGaussBorder_{samples}_C{3 if image.endswith('RGB') else 1}R_Ctx"]

        @functools.cache
        def output(shape: Any, kind: Any) -> Any:
            return torch().empty(shape, dtype=kind, device="cuda")

        def call(frame: Any) -> None:
            gpu = torch().cuda.get_device_properties(0)
            context = NppContext(torch().cuda.current_stream().cuda_stream, 0, gpu.multi_processor_count,
                                 gpu.max_threads_per_multi_processor, 1024, 49152, gpu.major, gpu.minor, 0, 0)
            to = output(frame.shape, frame.dtype)
            size = Pair(frame.shape[1], frame.shape[0])
            pitch = frame.stride(0) * frame.element_size()
            status = function(ctypes.c_void_p(frame.data_ptr()), pitch, size, Pair(0, 0), ctypes.c_void_p(to.data_ptr()), pitch, size,
                              mask_5x5, replicate, context)
            if status:
                raise RuntimeError(f"NPP refuses with code {status}")

        return call

    for image in ("3840×2160 u8 RGB", "3840×2160 f32", *(f"{size} f32 RGB" for size in ("640×480", "1280×720", "1920×1080", "3840×2160"))):
        yield "gaussian:method=binomial5", image, "NPP nppiFilterGaussBorder 5×5", gauss5(image)


def cv_cuda() -> Iterator[Work]:
    cv = importlib.import_module("cvcuda")
    version = f"CV-CUDA {cv.__version__}"

    def on(operation: Callable[..., Any]) -> Callable[[Any], Any]:
        tensors: dict[int, Any] = {}  # of one image: memory is used again for the next

        def call(frame: Any) -> None:
            pointer = frame.data_ptr()
            if pointer not in tensors:
                tensors[pointer] = cv.as_tensor(frame if frame.ndim == 3 else frame[..., None], "HWC")
            operation(tensors[pointer], stream=cv.as_stream(torch().cuda.current_stream()))
        return call

    replicate = cv.Border.REPLICATE
    for image in ("3840×2160 u8", "3840×2160 u8 RGB", "3840×2160 f32", "7680×4320 u8 RGB"):
        yield ("gaussian:method=binomial5", image, f"{version} gaussian 5×5",
               on(functools.partial(cv.gaussian, kernel_size=(5, 5), sigma=(1, 1), border=replicate)))
        yield ("gaussian:method=direct,sigma=1", image, f"{version} gaussian 7×7",
               on(functools.partial(cv.gaussian, kernel_size=(7, 7), sigma=(1, 1), border=replicate)))
        yield "flip:direction=horizontal", image, f"{version} flip", on(functools.partial(cv.flip, flipCode=1))
    for image in ("3840×2160 u8", "7680×4320 u8"):
        yield "clahe", image, f"{version} clahe", on(functools.partial(cv.clahe, clip_limit=2.0, tile_grid_size=(8, 8)))
        yield "equalize:bins=256", image, f"{version} histogrameq", on(functools.partial(cv.histogrameq, dtype=cv.Type.U8))
        yield "gamma", image, f"{version} gamma_contrast", on(functools.partial(cv.gamma_contrast, gamma=0.5))
    for image in ("3840×2160 u8", "3840×2160 u8 RGB"):
        width, height = (int(side) // 2 for side in image.split(" ")[0].split("×"))
        shape = (height, width, 3 if image.endswith("RGB") else 1)
        yield ("downsample:factor=2", image, f"{version} resize AREA",
               on(functools.partial(cv.resize, shape=shape, interp=cv.Interp.AREA)))


def cupy() -> Iterator[Work]:
    cp = importlib.import_module("cupy")
    filters = importlib.import_module("cupyx.scipy.ndimage")
    version = f"CuPy {cp.__version__}"

    def on(operation: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def call(frame: Any) -> None:
            operation(cp.asarray(frame))
        return call

    def flow_index(frame: Any) -> Any:
        pixels = frame.astype(cp.float32)
        mean = filters.uniform_filter(pixels, 5, mode="nearest")
        return mean * mean / (filters.uniform_filter(pixels * pixels, 5, mode="nearest") - mean * mean)

    for image in ("1392×1040 u16", "3840×2160 u16"):
        yield "speckle:radius=2", image, f"{version} uniform_filter, twice", on(flow_index)
    yield ("gaussian:method=recursive,sigma=10", "3840×2160 f32", f"{version} gaussian_filter",
           on(lambda frame: filters.gaussian_filter(frame, 10, mode="nearest")))


def compiled() -> Iterator[Work]:
    functional = importlib.import_module("torch.nn.functional")
    version = f"torch {torch().__version__} compiled"

    def flow_index(frame: Any) -> Any:
        pixels = functional.pad(frame.to(torch().float32)[None, None], (2, 2, 2, 2), mode="replicate")
        mean = functional.avg_pool2d(pixels, 5, 1)
        return mean * mean / (functional.avg_pool2d(pixels * pixels, 5, 1) - mean * mean)

    def gauss5(frame: Any) -> Any:
        taps = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)
        pixels = functional.pad(frame[None, None], (2, 2, 2, 2), mode="replicate")[0, 0]
        rows = sum(tap * pixels[:, k:pixels.shape[1] - 4 + k] for k, tap in enumerate(taps))
        return sum(tap * rows[k:rows.shape[0] - 4 + k] for k, tap in enumerate(taps))

    for image in ("1392×1040 u16", "3840×2160 u16"):
        yield "speckle:radius=2", image, f"{version}: avg_pool2d, twice", torch().compile(flow_index, dynamic=False)
    yield "gaussian:method=binomial5", "3840×2160 f32", f"{version}: sums of shifted images", torch().compile(gauss5, dynamic=False)


def rows(wanted: str) -> Iterator[dict[str, Any]]:
    for library in (npp, cv_cuda, cupy, compiled):
        try:
            for work, image, peer, function in library():
                if wanted not in f"{work} {image}":
                    continue
                times = measure(function, frames(image), in_graph=library not in (cupy, cv_cuda))  # these allocate in each call
                print(f"{work}, {image}: {peer}: {times['median']:.4f} ms", file=sys.stderr)
                yield {"work": f"GPU {work}", "image": image, "peer": peer, "peer_ms": times}
        except Exception as error:  # whatever a library throws: the others are measured
            print(f"specklescope-peers-python: {library.__name__}: {type(error).__name__}: {error}", file=sys.stderr)


def main() -> None:
    try:
        usable = torch().cuda.is_available()
    except ImportError:
        usable = False
    if not usable:
        print("specklescope-peers-python: torch with a GPU is not found; its rows are omitted.", file=sys.stderr)
    print(json.dumps(list(rows(sys.argv[1] if len(sys.argv) > 1 else "")) if usable else []))


if __name__ == "__main__":
    main()
