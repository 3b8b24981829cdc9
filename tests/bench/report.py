#!/usr/bin/env python3
"""Writes docs/benchmarks.md from the JSON files that tests/bench/measure leaves.

    tests/bench/report.py [--output FILE] JSON…

Takes, in any order: google-benchmark's output of speckle_bench, `cuda_speckle_bench --json`, and
`specklescope run … --stats`. What is not given is said to be not measured.
"""

import argparse
import json
import re
import statistics
import sys
from pathlib import Path

NOT_MEASURED = "Not measured: no file of such a run was given.\n"

INTRO = """# Benchmarks

Every figure below comes from a file in [docs/benchmarks](benchmarks); `tests/bench/report.py` wrote this page from them, and nothing
in it is typed by hand. To measure again and write it anew:

```sh
./dev bench                                  # what this machine has: CPU, and the GPU if there is one
tests/bench/measure cuda build/release DIR   # elsewhere, with a GPU, where the programs are built; copy DIR/*.json to docs/benchmarks
tests/bench/report.py --output docs/benchmarks.md docs/benchmarks/*.json
```

`tests/bench/measure` waits up to four minutes for a machine at rest (load under 0.5) and then measures all the same; the load at
the start stands beside the figures of the host.
"""

HOST_HOW = """The flow index of one image of {image} pixels, from `tests/bench/speckle_bench.cpp`; the two are compared on the same images, eight in turn,
on as many threads. *OpenCV, plain* is `boxFilter`, `sqrBoxFilter` and one pass of arithmetic spread over the threads; the filters
themselves run on one thread. *OpenCV, split* gives each thread a band of the image with the rows beside it, and so uses all of them.
Times are wall-clock milliseconds for an image: the median of {repetitions} repetitions, each over several images and
in random order with all the others, ± their standard deviation in % of the median. *Factor* is OpenCV's median over ours: above 1, ours is faster.
"""

KERNEL_HOW = """One kernel from image to flow index (f32), from `tests/bench/cuda_speckle_bench.cu`: times by CUDA events, the median of {rounds} rounds of
at least 20 calls in a row, over enough images that no cache holds them. *Copy* is a `cudaMemcpyAsync` inside the device that
reads and writes as many bytes together as the kernel does at least. *Fraction* is copy over kernel: 1 would be a kernel limited by memory alone.
"""

EXECUTOR_HOW = """Frames from page-locked memory through the whole CUDA executor (upload, kernel of the given radius and, where said, download), as fast as it
takes them, {frames} after 20 to warm up. *Up* and *down* are the bytes of the pixels over the time; the copy engines alone, one
direction at a time, 64 MiB a copy, did {up:.1f} GB/s up and {down:.1f} GB/s down. *Latency* is the mean from submission to result, with the executor kept full.
"""

PIPELINE_HOW = """`specklescope run` without a window on simulated speckle, all of it: source, ring, queue, executor. *Unpaced* (`rate=0&live=false`): each frame waits
for a free slot, none may be dropped, and the latency is mostly the queue in front of the executor, which is kept full. *Live*: as a camera
would, at the given rate, dropping what finds no slot. Frames/s is over the last second of the run: before an unpaced run the scene is
computed, which is not measured. Latency is from the arrival of the pixels to the result; a stage's time is the mean over the run.
"""


def fail(text):
    sys.exit(f"report.py: {text}")


def table(head, rows):
    """Markdown; the first column to the left, the others to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1)] + rows
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def digits(value):
    """Three digits that count."""
    if value == 0:
        return "0"
    for places, least in ((0, 100), (1, 10), (2, 1)):
        if abs(value) >= least:
            return f"{value:.{places}f}"
    return f"{value:.3f}"


def facts(pairs):
    return "".join(f"- {name}: {value}\n" for name, value in pairs if value not in (None, "")) + "\n"


def host_results(data):
    """{(type, radius, threads): {who: {aggregate: ms}}}"""
    found = {}
    singles = {}
    for run in data["benchmarks"]:
        match = re.match(r"(ours|opencv|opencv-split)/(\w+)/radius:(\d+)/threads:(\d+)", run["run_name"])
        if not match:
            continue
        if run.get("error_occurred"):
            fail(f"{run['run_name']} failed: {run.get('error_message', '')}")
        who, kind, radius, threads = match.groups()
        scale = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[run["time_unit"]]
        result = found.setdefault((kind, int(radius), int(threads)), {}).setdefault(who, {})
        if run["run_type"] == "aggregate":
            if run.get("aggregate_unit", "time") == "time":
                result[run["aggregate_name"]] = run["real_time"] * scale
        else:
            singles.setdefault(id(result), (result, []))[1].append(run["real_time"] * scale)
    for result, times in singles.values():  # a run that kept each repetition, or had but one
        result.setdefault("median", statistics.median(times))
        result.setdefault("min", min(times))
        if len(times) > 1:
            result.setdefault("stddev", statistics.stdev(times))
    return found


def time_cell(result):
    if not result:
        return "–"
    if "stddev" not in result:
        return digits(result["median"])
    return f"{digits(result['median'])} ± {100 * result['stddev'] / result['median']:.0f} %"


def factor_cell(other, ours):
    return f"{other['median'] / ours['median']:.1f}" if other and ours else "–"


def load_cell(load):
    if not load:
        return None
    return f"{load[0]:.2f}" + ("" if load[0] < 0.5 else " **(not at rest: other work slowed these runs)**")


def host_section(name, data):
    context = data["context"]
    results = host_results(data)
    caches = ", ".join(f"L{c['level']} {c['type']} {c['size'] // 1024} KiB" for c in context.get("caches", []))
    repetitions = max((run.get("repetitions", 1) for run in data["benchmarks"]), default=0)
    text = f"### {context.get('cpu', 'CPU not recorded')}\n\n"
    text += facts([
        ("cores", context.get("num_cpus")),
        ("threads used", " and ".join(str(n) for n in sorted({key[2] for key in results}))),
        ("caches", caches),
        ("instruction set taken", context.get("simd")),
        ("compiler", context.get("compiler")),
        ("OpenCV", context.get("opencv")),
        ("load at the start", load_cell(context.get("load_avg"))),
        ("measured", context.get("date")),
        ("file", f"[{name}](benchmarks/{name})"),
    ])
    text += HOST_HOW.format(image=context.get("image", "1392×1040"), repetitions=repetitions) + "\n"
    kinds = {"u8": 0, "u16": 1, "f32": 2}
    for threads in sorted({key[2] for key in results}):
        head = ["type, radius", "ours, ms", "fastest, ms", "OpenCV, plain, ms", "factor"]
        split = any("opencv-split" in who for key, who in results.items() if key[2] == threads)
        head += ["OpenCV, split, ms", "factor"] if split else []
        rows = []
        for key in sorted((k for k in results if k[2] == threads), key=lambda k: (kinds.get(k[0], 9), k)):
            who = results[key]
            ours = who.get("ours")
            row = [f"{key[0]}, {key[1]}", time_cell(ours), digits(ours["min"]) if ours and "min" in ours else "–"]
            for other in ("opencv", "opencv-split") if split else ("opencv",):
                row += [time_cell(who.get(other)), factor_cell(who.get(other), ours)]
            rows.append(row)
        text += f"**{threads} thread{'s' if threads > 1 else ''}**\n\n" + table(head, rows) + "\n"
    return text


def gpu_facts(name, data):
    machine = data["machine"]
    return f"### {machine['gpu']}\n\n" + facts([
        ("multiprocessors", machine["multiprocessors"]),
        ("memory", f"{machine['memory_bytes'] / 2**30:.0f} GiB"),
        ("driver", machine["kernel_module"]),
        ("CUDA", f"driver {machine['driver_cuda']}, runtime {machine['runtime_cuda']}, nvcc {machine['nvcc']}"),
        ("host", machine["cpu"]),
        ("compiler", machine["compiler"]),
        ("measured", machine["date"]),
        ("file", f"[{name}](benchmarks/{name})"),
    ])


def kernel_section(name, data):
    rows = []
    for k in data["kernels"]:
        rows.append([f"{k['width']}×{k['height']} {k['type']}", k["radius"], digits(k["kernel_us"]), digits(k["copy_us"]),
                     f"{k['bytes'] / k['copy_us'] * 1e-6:.2f}", f"{k['copy_us'] / k['kernel_us']:.2f}"])
    return (gpu_facts(name, data) + KERNEL_HOW.format(rounds=data["rounds"]) + "\n" +
            table(["image", "radius", "kernel, µs", "copy, µs", "copy, TB/s", "fraction"], rows) + "\n")


def executor_section(data):
    copy = data["copy_engines"]
    rows = []
    for e in data["executor"]:
        pixels = e["width"] * e["height"] * e["frames_per_s"] * 1e-9
        size = {"u8": 1, "u16": 2, "f32": 4}[e["type"]]
        rows.append([f"{e['width']}×{e['height']} {e['type']}, radius {e['radius']}", "yes" if e["download"] else "no",
                     f"{e['frames_per_s']:.0f}", f"{pixels * size:.1f}", f"{pixels * 4:.1f}" if e["download"] else "–",
                     f"{e['mean_latency_us']:.0f}"])
    text = EXECUTOR_HOW.format(frames=data["executor"][0]["frames"] if data["executor"] else 0,
                               up=copy["up_gb_per_s"], down=copy["down_gb_per_s"])
    return (f"### {data['machine']['gpu']}\n\n" + text + "\n" +
            table(["image", "download", "frames/s", "up, GB/s", "down, GB/s", "latency, µs"], rows) + "\n")


def pipeline_section(runs):
    rows = []
    for name, s in runs:
        options = dict(part.split("=", 1) for part in s["source"].partition("?")[2].split("&") if "=" in part)
        unpaced = options.get("live") == "false" and float(options.get("rate", 60)) == 0
        pace = "unpaced" if unpaced else f"live, {options.get('rate', '60')}/s"
        latency = s["latency_ms"]
        stages = ", ".join(f"{stage['name']} {digits(stage['mean'])}" for stage in s["stages_ms"])
        rows.append([f"[{name}](benchmarks/{name})", f"{s['backend']}: {s['device']}", pace, s["frames"]["processed"],
                     digits(s["rate"]["processing"]), s["drops"]["total"], digits(latency["median"]), digits(latency["p95"]),
                     digits(latency["p99"]), stages])
    text = table(["run", "ran on", "pace", "frames", "frames/s", "dropped", "latency, ms: median", "95 %", "99 %",
                  "stages, ms a frame"], rows)
    commands = "".join(f"- {name}: `{s['source']}`, `--stage {s['chain']}`\n" for name, s in runs)
    return PIPELINE_HOW + "\n" + text + "\n" + commands


def load(paths):
    kinds = {"host": [], "cuda": [], "run": []}
    for path in paths:
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            fail(f"{path}: {error}")
        kind = ("host" if "benchmarks" in data else "cuda" if "kernels" in data else
                "run" if "latency_ms" in data else None) if isinstance(data, dict) else None
        if kind is None:
            fail(f"{path} is none of the three kinds of file: speckle_bench, cuda_speckle_bench, run --stats.")
        kinds[kind].append((Path(path).name, data))
    return kinds


def page(kinds):
    host = "".join(host_section(*item) for item in kinds["host"]) or NOT_MEASURED + "\n"
    kernels = "".join(kernel_section(*item) for item in kinds["cuda"]) or NOT_MEASURED + "\n"
    executor = "".join(executor_section(data) for _, data in kinds["cuda"]) or NOT_MEASURED + "\n"
    runs = pipeline_section(kinds["run"]) if kinds["run"] else NOT_MEASURED
    if kinds["run"] and not any(s["backend"] == "cuda" for _, s in kinds["run"]):
        runs += "\nOn a GPU: not measured.\n"
    return (INTRO + "\n## The speckle stage on the host, beside OpenCV\n\n" + host + "## The speckle kernel on the GPU\n\n" +
            kernels + "## Streaming through the GPU\n\n" + executor + "## The whole program\n\n" + runs)


def main():
    parser = argparse.ArgumentParser(description="Markdown from the JSON files of tests/bench/measure.")
    parser.add_argument("--output", type=Path, help="instead of standard output")
    parser.add_argument("json", nargs="+", type=Path)
    arguments = parser.parse_args()
    text = page(load(sorted(arguments.json)))
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
