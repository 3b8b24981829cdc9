#!/usr/bin/env python3
"""Make the pages and charts of docs/benchmarks.md from the JSON files of `specklescope bench --json`.

  page.py [--page FILE] REPORT…   write FILE (docs/benchmarks.md) and, in the folder of the same name, a page and
                                  charts for each report

The reports are rewritten, too: one line for each row, and only the newest result of each machine. A row that a
later run measured again is removed from the earlier report, whose page names the number of rows removed.
"""

import argparse
import json
import math
import re
import sys
from pathlib import Path


# Numbers and tables

def digits(value):
    """Three significant digits: 0.00123, 12.3, 4560."""
    size = abs(value)
    return f"{value:.{0 if size == 0 or size >= 100 else min(6, 2 - math.floor(math.log10(size)))}f}"


def spread(time):
    """Median ± half the distance of the quartiles, which a row from the log of a run does not have."""
    median = time["median"]
    known = median > 0 and "low" in time
    return digits(median) + (f" ± {digits(50 * (time['high'] - time['low']) / median)} %" if known else "")


def positive(value):
    return digits(value) if value > 0 else "–"


def median(row, key):
    return digits(row[key]["median"]) if key in row else "–"


def table(head, rows):
    """A Markdown table in columns of even width; all but the first are aligned to the right."""
    lines = [head, *rows]
    widths = [max(3, *(len(line[i]) for line in lines)) for i in range(len(head))]
    text = ["| " + " | ".join(cell.rjust(width) if i else cell.ljust(width)
                              for i, (cell, width) in enumerate(zip(line, widths))) + " |\n" for line in lines]
    rule = "|" + "|".join("-" * (width + 1) + ":" if i else "-" * (width + 2) for i, width in enumerate(widths)) + "|\n"
    return "".join([text[0], rule, *text[1:]])


def framed(row):
    return f"{row['work']}, {row['image']}"


def bare_work(row):
    """The stage without the processor before it and the choice of the stage after it."""
    return row["work"].split(" ", 1)[1].split(" (")[0]


# One table for each section of a report

def checked(row):
    if row["difference"] is None:
        return "**wrong**"
    return ("same" if row["difference"] == 0 else f"{row['difference']:.1e}") + ("" if row["agrees"] else " **wrong**")


def simd_names(rows, key):
    return list(dict.fromkeys(name for row in rows for name in row.get(key, {})))


def kernels(rows):
    return table(["stage, frame", "ms", "copy, ms", "fraction", "checked", "chosen"],
                 [[framed(row), spread(row["ms"]), median(row, "copy_ms"),
                   digits(row["copy_ms"]["median"] / row["ms"]["median"]), checked(row), row.get("note", "")]
                  for row in rows])


def published(rows):
    return table(["work, frame", "on", "ms", "with copies, ms", "chosen"],
                 [[framed(row), row["on"], median(row, "ms"), median(row, "with_copies_ms"), row["note"]] for row in rows])


def simd(rows):
    names = simd_names(rows, "ms_by_simd")
    return table(["stage, frame", *(f"{name}, ms" for name in names)],
                 [[framed(row), *(spread(row["ms_by_simd"][name]) if name in row["ms_by_simd"] else "–" for name in names)]
                  for row in rows])


def stream(rows):
    return table(["stage, frame", "result", "frames/s", "up, GB/s", "down, GB/s", "fraction", "latency, ms"],
                 [[framed(row), row["result"], digits(row["frames_per_s"]), digits(row["up_gb_per_s"]),
                   positive(row.get("down_gb_per_s", 0)), positive(row.get("fraction", 0)), digits(row["latency_ms"])]
                  for row in rows])


def regions(rows):
    return table(["stage, frame", "regions", "pixels", "frames/s without", "frames/s with", "time, µs", "cost, %"],
                 [[framed(row), row["regions"], str(row["pixels"]), digits(row["frames_per_s_without"]),
                   digits(row["frames_per_s"]), digits(1e3 * row["ms"]), digits(100 * row["share"])] for row in rows])


def feeds(rows):
    return table(["what", "where", "frames/s", "MB/s", "CPU", "frames", "dropped"],
                 [[row["name"], row["place"], digits(row["frames_per_s"]), digits(row["mb_per_s"]), digits(row["cpu"]),
                   str(row["frames"]), str(row["dropped"])] for row in rows])


def gpus(rows):
    return table(["stages, frame", "GPUs", "frames/s", "times", "fraction", "kernels, ms", "submit, µs", "up, GB/s"],
                 [[framed(row), str(row["gpus"]), *(digits(row[key]) for key in (
                     "frames_per_s", "times", "fraction", "kernels_ms", "submit_us", "up_gb_per_s"))] for row in rows])


def pipeline(rows):
    return table(["run", "frames/s", "frames", "dropped", "drawn/s", "latency median, ms", "95 %", "99 %", "CPU"],
                 [[row["name"], digits(row["frames_per_s"]), str(row["frames"]), str(row["dropped"]),
                   positive(row.get("drawn_per_s", 0)), *(digits(row[key]) for key in (
                       "median_ms", "p95_ms", "p99_ms", "cpu"))] for row in rows])


def doors(rows):
    return table(["run", "frames/s", "frames", "dropped", "latency median, ms", "99 %", "CPU", "clients", "unread, KiB"],
                 [[row["name"], digits(row["frames_per_s"]), str(row["frames"]), str(row["dropped"]), digits(row["median_ms"]),
                   digits(row["p99_ms"]), digits(row["cpu"]), positive(row["clients"]), positive(row["unread_kib"])]
                  for row in rows])


def traces(rows):
    return table(["what", "regions", "frames", "µs", "MB held"],
                 [[row["work"], digits(row["regions"]), digits(row["frames"]), spread(row["us"]), digits(row["mb"])]
                  for row in rows])


def startup(rows):
    return table(["what", "s"], [[row["name"], spread(row["s"])] for row in rows])


def window(rows):
    columns = [("median_ms", "key to image, median, ms"), ("p95_ms", "95 %, ms"), ("drawn_per_s", "drawn/s"),
               ("cpu_percent", "CPU, %"), ("rss_mb", "RSS, MB"),
               ("files_mb", "files, MB")]
    return table(["what", "image", "window", "drawn by", *(head for _, head in columns)],
                 [[row["name"], row["image"], row["window"], row["drawn_by"].split(" (")[0],
                   *(digits(row[key]) if key in row else "–" for key, _ in columns)] for row in rows])


def screen(rows):
    return table(["source", "image", "window", "drawn by", "frames", "wrong", "delay, median, ms", "95 %", "99 %",
                  "inside, median", "95 %", "99 %"],
                 [[row["name"], row["image"], row["window"], row["drawn_by"].split(" (")[0], str(row["read"]),
                   str(row["wrong"]), *(digits(row[key]) for key in (
                       "median_ms", "p95_ms", "p99_ms", "inside_median_ms", "inside_p95_ms", "inside_p99_ms"))]
                  for row in rows])


def peers(rows):
    names = simd_names(rows, "ours_ms_by_simd")
    lines = []
    for row in rows:
        by_simd = row.get("ours_ms_by_simd", {})
        factor = lambda ours: digits(row["peer_ms"]["median"] / ours["median"])
        line = [framed(row), row["peer"], spread(row["peer_ms"]), spread(row["ours_ms"]), factor(row["ours_ms"])]
        for name in names:
            line += [spread(by_simd[name]), factor(by_simd[name])] if name in by_simd else ["–", "–"]
        lines.append(line)
    return table(["work, frame", "other", "other, ms", "ours, ms", "factor",
                  *(cell for name in names for cell in (f"{name}, ms", "factor"))], lines)


SECTIONS = [
    ("Stages", kernels,
     "One stage on one frame, median ± half the distance of the quartiles, after warm-up, on fresh simulated speckle in "
     "alternating buffers. *Copy* is the time to copy as many bytes as the input and the output have together (half of "
     "them read, half written), *fraction* is copy over stage: 1 means that only memory limits the stage. *Checked*: on the GPU the largest difference from the host's result, relative (integers: of full scale); on the CPU \"same\" means that the result did not depend on the earlier content of the output."),
    ("Published methods", published,
     "The methods of earlier publications in their sizes and pixel types; *with copies* includes the copies from and to page-locked memory. [published.md](published.md) has the published figures."),
    ("Instruction sets", simd,
     "Stages of the host with each instruction set, measured alternately. AVX3 is Highway's name of AVX-512."),
    ("Frames through the executor", stream,
     "Frames from slots (page-locked with a GPU) through upload, stage and, where stated, download, as fast as possible. *Fraction*: of the bus's rate in the limiting direction, or on the CPU of the rate of the stage by itself."),
    ("Regions", regions,
     "The same stream with and without region statistics of every frame, measured alternately; medians of the rounds. *Pixels*: of all regions together. *Time*: added to a frame. *Cost*: share of the time of a frame."),
    ("Sources and recorders", feeds,
     "1392×1040 u16. Sources run unpaced through ring, queue and an empty chain. Recorders take frames from slots, and the "
     "time counts until the file is closed; *plain write* writes as many bytes to the same folder with one system call per frame. CPU is processor time over wall-clock time, in cores."),
    ("Several GPUs", gpus,
     "The same frames from page-locked slots, distributed over the GPUs of one host; results stay on their GPU. *Times*: rate over that of one GPU. *Fraction*: *times* over the number of GPUs. *Kernels*: time between the first and the last kernel of a frame on one GPU. *Submit*: time of the distributing thread per frame; with one GPU this thread starts the kernels itself, with several each GPU has its own thread."),
    ("The whole program", pipeline,
     "The program as a process of its own on simulated speckle, 1392×1040 u16: source, ring, queue, executor, and the "
     "window where stated. Latency runs from the arrival of the pixels to the result. CPU is processor time over "
     "wall-clock time, in cores."),
    ("Interfaces", doors,
     "The program on a simulated camera of 1000 frames/s, 320×240 u16, without an interface, with --publish, --control, --metrics and --serve, and with a client of each that requests everything and reads nothing. *Unread*: data that waited for these clients at the end. Frames are dropped because of an interface if none are dropped without it."),
    ("Traces of regions", traces,
     "Cost of the window's plots: smallest and largest mean of every column, and adding a frame. Values change from frame to frame; the memory holds the whole history."),
    ("Start", startup, "From the start of the process; the median of the runs and its quartiles."),
    ("The window", window,
     "The program's window as a process of its own, moved by keys and mouse. *Key to image* runs from the key to the end "
     "of drawing the first frame that shows its effect, for 40 keys that are not in step with the frames. *Drawn/s* "
     "counts frames on the screen while the mouse moves the slider of the radius. CPU is in % of one core. *Files* is the "
     "part of the resident memory (RSS) that is mapped from files: the program, its libraries and the OpenGL driver."),
    ("From the source to the screen", screen,
     "Frames of 8 bits written to a pipe at a steady rate; each shows its number, which is read back from the pixels "
     "of the drawn window. *Delay* runs from the moment when the frame begins to enter the pipe until OpenGL has "
     "presented it. *Inside* is the program's own figure, from the arrival of the pixels. *Wrong*: frames whose pixels "
     "did not show the number."),
    ("Other libraries", peers,
     "The same work by other libraries, measured alternately with ours in one process, with the same frames and number of threads; NPP, torch, CV-CUDA and CuPy on random frames, NPP and torch in a CUDA graph, which spares them the launches, CV-CUDA and CuPy called from Python, in the same run. No call from Python took less than 20 µs, also where the work is less. Times without ± are medians from the log of a run that was ended before it wrote its report. *Factor*: their time over ours; above 1, ours is faster. Last columns: ours with each instruction set, in the same run; AVX3 is Highway's name of AVX-512."),
]


def facts(values):
    return "".join(f"- {name}: {value if isinstance(value, str) else digits(value)}\n"
                   for name, value in values.items() if name != "name")


def machine_page(report, charts):
    text = f"# {report['machine']['name']}\n\n" + facts(report["machine"])
    if "ceilings" in report:
        text += "\n**What the machine can do**\n\n" + facts(report["ceilings"])
    text += "".join(f"\n![{chart}]({chart})\n" for chart in charts)
    for title, make, how in SECTIONS:
        if rows := report.get(make.__name__):
            text += f"\n## {title}\n\n{how}\n\n{make(rows)}"
    return text


# The overview: well-known work on each machine, and three charts

HEADLINES = [  # what, our work, the work of other libraries, frame
    ("flow index, 5×5", "speckle:radius=2", "speckle:radius=2", "1392×1040 u16"),
    ("flow index, 5×5", "speckle:radius=2", "speckle:radius=2", "3840×2160 u16"),
    ("flow index, 15×15", "speckle:radius=7", "speckle:radius=7", "1392×1040 u16"),
    ("Gaussian 5×5", "gaussian:method=binomial5", "gaussian:method=binomial5", "3840×2160 u8 RGB"),
    ("Gaussian σ = 10", "gaussian:method=recursive,sigma=10", "gaussian:sigma=10", "3840×2160 u8 RGB"),
    ("equalisation in HSV", "equalize:bins=256", "equalize:bins=256,scaling=minmax", "3840×2160 u8 RGB"),
    ("disk of 255 px", "convolve:kernel=disk,radius=127", "convolve:kernel=disk,radius=127", "1392×1040 f32"),
]


def processor_of(row):
    return row["work"].split(" ")[0]


def has_both(report):
    return {processor_of(row) for row in report.get("kernels", [])} >= {"GPU", "CPU"}


def quickest(rows, works, image, processor):
    fitting = [row for row in rows
               if processor_of(row) == processor and bare_work(row) in works and row["image"] == image]
    return min(fitting, key=lambda row: row["peer_ms"]["median"], default=None)


def summary(reports):
    lines = []
    for report in reports:
        for processor in ("GPU", "CPU"):
            for what, work, beside, image in HEADLINES:
                ours = next((row for row in report.get("kernels", []) if processor_of(row) == processor
                             and bare_work(row) == work and row["image"] == image), None)
                other = quickest(report.get("peers", []), {work, beside}, image, processor)
                if not ours or (not other and report.get("peers")):
                    continue
                ms, copy = ours["ms"]["median"], ours["copy_ms"]["median"]
                lines.append([f"{what}, {image}",
                              report["machine"]["CPU" if processor == "CPU" and has_both(report) else "name"], digits(ms),
                              digits(other["peer_ms"]["median"]) if other else "–",
                              digits(other["peer_ms"]["median"] / other["ours_ms"]["median"]) if other else "–",
                              digits(copy), digits(copy / ms), other["peer"] if other else "none measured"])
    head = ["work, frame", "on", "ours, ms", "quickest other, ms", "factor", "copy, ms", "fraction of copy", "the other"]
    return table(head, lines) if lines else ""


def overview_page(pages, others):
    text = ("# Benchmarks\n\nWritten by [page.py](benchmarks/page.py) from the JSON files of `specklescope bench --json`; "
            "nothing here is typed by hand. `./dev bench` measures the machine it runs on.\n\n")
    if rows := summary([report for report, _, _ in pages]):
        text += ("*Factor*: time of the other program over ours, measured alternately in one run; above 1, ours is faster. *Fraction*: time to copy as many bytes, over ours; 1 means that only memory limits the stage.\n\n" + rows)
    text += "\nAll measurements, one page for each machine:\n\n"
    for report, path, _ in pages:
        text += f"- [{report['machine']['name']}, {report['machine'].get('measured', '')}]({path})\n"
    text += others
    text += "".join(f"\n![{chart}]({chart})\n" for _, _, charts in pages for chart in charts)
    for report, _, _ in pages:
        if report.get("pipeline"):
            text += f"\n## The whole program, {report['machine']['name']}\n\n" + pipeline(report["pipeline"])
    return text


# Publications

# Title, work, source, published rows (work, figure, hardware), their rule, what is the same, what differs.
# bench/cases.cpp has the works, too.
PUBLISHED = [
    ("Speckle contrast and flow index on the GPU", "speckle:",
     "Yang, Cuccia, Choi, *Real-time blood flow visualization using the graphics processing unit*, J. Biomed. Opt. 16, "
     "016009 (2011)",
     [["live flow with display, 1392×1040, 12 bit", "about 15 frames/s; the camera gave about 10", "NVIDIA 8800GTS, Intel Core 2 at 1.8 GHz"],
      ["projection, 1920×1440", "about 30 frames/s", "NVIDIA 8800GTS"],
      ["projection, 1920×1440", "about 4 frames/s", "Intel Core 2 at 1.8 GHz"]],
     "a frame's time is upload, two kernels and download. Results of GPU and CPU differ by about 1e-7.",
     "window of 5×5 pixels, sample standard deviation, SFI = 1/(2·T·K²), frame of 1392×1040.",
     "the earlier method writes K and SFI, ours one of them. Its frame rates compare with *with copies*, and those of the live instrument with the whole program in [benchmarks.md](../benchmarks.md)."),
    ("Recursive Gaussian on the GPU", "gaussian:method=recursive",
     "Scheibe; the filter is by Young, van Vliet, *Recursive implementation of the Gaussian filter*, Signal Processing 44 (1995); on the GPU one thread per row, with a transposition between the passes",
     [], "no time is given. The filter computes in double precision and needs σ ≥ 0.5.",
     "sigma 10, one channel in f32, forward and backward, rows and columns.",
     "the earlier method works in f64 and begins its backward pass approximately; ours in f32 differences, with the exact "
     "border of Triggs and Sdika (2006)."),
    ("Convolution with a kernel as large as the image, for glare", "convolve:", "Johansson Bergström 2012",
     [["5661×5661, 3 channels", "2.42 s", "NVIDIA GTX 570"], ["5661×5661, 3 channels", "10.5 s", "Intel i5-2500K"],
      ["4750×4750, 3 channels", "1.67 s, of which 0.25 s transfer", "NVIDIA GTX 570"],
      ["4750×4750, 3 channels, the kernel's spectrum kept", "1.29 s, an estimate", "NVIDIA GTX 570"]],
     "copies are included. 5661 was chosen because FFTW is slow at this size.",
     "f32 RGB, one kernel for the three channels, linear convolution. Images of 2376² and 2831² with kernels of 2375² and 2831² have 4750² and 5661² with their border; images of 4750² and 5661² are also measured, with kernels of the same size.",
     "the size of our transforms is chosen for speed and is not the padded size; the border repeats the edge; the kernel's spectrum is computed once, not for every image. The time of cuFFT is for the two transforms of the padded image only."),
    ("Direct 5×5 Gaussian", "gaussian:method=binomial5", "Ariano, Bonanni; weights in constant memory, tiles in shared memory",
     [["4K, global memory", "1.04 ms", "NVIDIA RTX 3070 Ti"], ["4K, constant memory", "0.98 ms", "NVIDIA RTX 3070 Ti"],
      ["4K, shared memory, first version", "1.11 ms", "NVIDIA RTX 3070 Ti"],
      ["4K, shared memory, second version", "0.94 ms", "NVIDIA RTX 3070 Ti"],
      *([f"{size}, shared memory, second version", f"{ms} ms", "NVIDIA RTX 3070 Ti"]
        for size, ms in (("2K", "0.43"), ("1080p", "0.19"), ("720p", "0.12"), ("480p", "0.08"))),
      ["4K, 14 threads", "49.39 ms", "Intel i9-11900KF"]],
     "GPU times are of the kernel only, mean of 100; compare with *ours*.",
     "f32 RGB, the same 25 weights.",
     "ours uses the two times five weights of a separable kernel, the earlier methods 25; their frame of zeros exists before the measurement, ours computes its border."),
    ("Equalisation of V in HSV", "equalize:", "Duong; histogram by atomics in shared memory, HSV images between kernels",
     [*(["961×640 RGB, best grid", f"{ms} ms", gpu] for gpu, ms in (
         ("NVIDIA A100", "1.49"), ("NVIDIA T4", "2.33"), ("NVIDIA P620", "2.37"), ("NVIDIA MX130", "4.37"))),
      *(["961×640 RGB", f"{ms} ms", cpu] for cpu, ms in (
          ("Intel i7-8700", "56.78"), ("Intel Xeon at 2.0 GHz", "74.94"), ("Intel i7-8565U", "191.93"))),
      *([f"kernel {kernel}", f"{ms} ms, by a profiler", "NVIDIA MX130"] for kernel, ms in (
          ("RGB to HSV", "1.272"), ("HSV to RGB", "0.815"), ("equalise", "0.594"), ("histogram", "0.238")))],
     "GPU times include allocation, copies and release of memory; CPU times are means.",
     "u8 RGB, 256 bins, V = r/r_max, hue and saturation kept.",
     "ours makes no HSV images: it scales each pixel's channels by the ratio of new to old V. Our memory is allocated once."),
]


def published_lines(work, reports):
    """Rows of all reports, frame by frame."""
    frames = dict.fromkeys((row["work"], row["image"]) for report in reports for row in report.get("published", [])
                           if row["work"].startswith(work))
    for frame in frames:
        for report in reports:
            machine = report["machine"]
            same = [row for other in reports if other["machine"]["name"] == machine["name"] for row in other.get("peers", [])]
            for row in report.get("published", []):
                if (row["work"], row["image"]) != frame:
                    continue
                gpu = row["on"] == "GPU"
                other = quickest(same, {row["work"]}, row["image"], "GPU" if gpu else "CPU") if row.get("most") else None
                on = machine["name"] if gpu else machine.get("CPU", machine["name"]).split(",")[0] + ", " + row["on"]
                yield [f"{row['image']}, {row['work']}", on, median(row, "ms"), median(row, "with_copies_ms"),
                       median(other, "peer_ms") if other else "–", other["peer"] if other else ""]


def published_page(reports):
    measured = [report["machine"] for report in reports if report.get("published")]
    if not measured:
        return ""
    text = ("# Published methods, measured here\n\nWritten by [page.py](page.py) from the JSON files of `specklescope bench --json`; "
            "figures of publications are copied from them, with their hardware and their rule of timing. No earlier system ran on this hardware, so no factor is computed from a published figure. The last columns therefore have the time of the same method *here*, implemented from its description (`tests/bench/seeds`), or that of another library. *Ours* is the stage on frames in memory; *with copies* adds the copies from and to page-locked memory, one after the other. Every time is the median per frame.\n\n"
            "Measured:\n\n")
    for machine in measured:
        text += (f"- {machine['name']}, {machine.get('measured', '')}, load at the start "
                 f"{machine.get('load at the start', 'not noted')}\n")
    for title, work, source, figures, rule, alike, unlike in PUBLISHED:
        text += f"\n## {title}\n\n{source}.\n\n"
        text += table(["published", "figure", "on"], figures) + "\n" if figures else ""
        text += f"- Published: {rule}\n- Same: {alike}\n- Different: {unlike}\n\n"
        lines = list(published_lines(work, reports))
        text += table(["frame", "on", "ours, ms", "with copies, ms", "another there, ms", "the other"], lines) \
            if lines else "Not measured yet.\n"
    return text


# Charts: lines with marks over logarithmic axes, as SVG

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 440, 72, 696, 44, 384
# Distinct to colour-blind readers too (Wong, Nature Methods 8, 441, 2011).
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]


def px(value):
    return f"{math.floor(10 * value + 0.5) / 10:g}"


def label(x, y, text, more=""):
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<text x="{px(x)}" y="{px(y)}" {more}>{text}</text>\n'


class Axis:
    """Values to pixels; ticks at 1, 2 and 5 times the powers of ten."""

    def __init__(self, values, begin, end):
        ticks = [step * 10.0**power for power in range(-9, 10) for step in (1, 2, 5)]
        self.low = max(tick for tick in ticks if tick <= min(values) * 1.001)
        self.high = max(min(tick for tick in ticks if tick >= max(values) * 0.999), 2 * self.low)
        self.ticks = [tick for tick in ticks if self.low * 0.999 <= tick <= self.high * 1.001]
        self.begin, self.end = begin, end

    def at(self, value):
        return self.begin + (self.end - self.begin) * math.log(value / self.low) / math.log(self.high / self.low)


def svg(title, x_name, series):
    """series: {name: (points, dashed)}."""
    points = [point for line, _ in series.values() for point in line]
    x, y = Axis([a for a, _ in points], LEFT, RIGHT), Axis([b for _, b in points], BOTTOM, TOP)
    height = px(HEIGHT + 17 * len(series) + 8)
    text = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}" width="720" height="{height}" '
            f'font-family="DejaVu Sans, sans-serif" font-size="12">\n<rect width="720" height="{height}" fill="#fff"/>\n')
    text += label(WIDTH / 2, 24, title, 'text-anchor="middle" font-weight="bold"')
    for tick in x.ticks:
        text += (f'<path d="M{px(x.at(tick))} {TOP}V{BOTTOM}" stroke="#ddd"/>\n'
                 + label(x.at(tick), BOTTOM + 18, f"{tick:g}", 'text-anchor="middle"'))
    for tick in y.ticks:
        text += (f'<path d="M{LEFT} {px(y.at(tick))}H{RIGHT}" stroke="#ddd"/>\n'
                 + label(LEFT - 8, y.at(tick) + 4, f"{tick:g}", 'text-anchor="end"'))
    text += label((LEFT + RIGHT) / 2, HEIGHT - 14, x_name, 'text-anchor="middle"')
    text += label(0, 0, "time a frame, ms", 'text-anchor="middle" transform="translate(18 220) rotate(-90)"')
    legend = ""
    for i, (name, (line, dashed)) in enumerate(series.items()):
        color, dash, at = COLORS[i % len(COLORS)], ' stroke-dasharray="6 4"' if dashed else "", HEIGHT + 17 * i + 6
        places = [(px(x.at(a)), px(y.at(b))) for a, b in sorted(line)]
        text += (f'<path d="M{"L".join(f"{a} {b}" for a, b in places)}" fill="none" stroke="{color}" '
                 f'stroke-width="2"{dash}/>\n')
        if not dashed:
            text += "".join(f'<circle cx="{a}" cy="{b}" r="3.5" fill="{color}"/>\n' for a, b in places)
        legend += (f'<path d="M{LEFT} {px(at - 4)}h22" stroke="{color}" stroke-width="2"{dash}/>\n'
                   + label(LEFT + 30, at, name))
    return text + legend + "</svg>\n"


def number_in(work, key):
    found = re.search(key + r"=([0-9.]+)", work)
    return float(found[1]) if found else 0


def megapixels(image):
    width, height = re.match(r"(\d+)×(\d+)", image).groups()
    return int(width) * int(height) / 1e6


def charts(report):
    """Time over radius, sigma and size: {end of the file's name: SVG}."""
    series = {"radius": {}, "sigma": {}, "size": {}}
    both = has_both(report)

    def add(row, name, ms, copy):
        work, image = bare_work(row), row["image"]
        where = f", {processor_of(row)}" if both and copy else ""
        places = []
        if work.startswith("speckle:radius=") and image == "1392×1040 u16":
            places.append(("radius", number_in(work, "radius"), name or "this program"))
        if work.startswith("gaussian:") and number_in(work, "sigma") > 0 and image == "3840×2160 u8 RGB":
            places.append(("sigma", number_in(work, "sigma"), name or work.split("method=")[1].split(",")[0]))
        if work == "speckle:radius=2" and image.endswith(" u16"):
            places.append(("size", megapixels(image), name or "this program"))
        for chart, x, line in places:
            series[chart].setdefault(line + where, ([], False))[0].append((x, ms))
            if copy:
                series[chart].setdefault("a copy of the same bytes" + where, ([], True))[0].append((x, copy))

    for row in report.get("kernels", []):
        add(row, None, row["ms"]["median"], row["copy_ms"]["median"])
    for row in report.get("peers", []):
        add(row, row["peer"], row["peer_ms"]["median"], None)
    titles = {"radius": ("Flow index over the window's radius, 1392×1040 u16", "radius, px"),
              "sigma": ("Gaussian over σ, 3840×2160 u8 RGB", "σ, px"),
              "size": ("5×5 flow index over the size of the frame, u16", "million pixels")}
    return {chart: svg(f"{titles[chart][0]}, {report['machine']['name']}", titles[chart][1], lines)
            for chart, lines in series.items() if lines}


# Files

def identity(row):
    """Work, frame, processor and peer, without the chosen method, the number of threads and the peer's version."""
    if "on" in row:
        return row["work"], row["image"], "GPU" if row["on"] == "GPU" else "CPU"
    return bare_work(row), row["image"], processor_of(row), re.sub(r"\b\d+(\.\d+)+\S* ", "", row.get("peer", ""))


def keep_newest(reports):
    """Removes the rows that a later report of the same machine has, too."""
    for name, report in reports.items():
        machine = report["machine"]
        for other_name, other in reports.items():
            later = other["machine"]
            if later["name"] != machine["name"] or later.get("measured", "") <= machine.get("measured", ""):
                continue
            gone = 0
            for section in ("kernels", "peers", "published"):
                again = {identity(row) for row in other.get(section, [])}
                kept = [row for row in report.get(section, []) if identity(row) not in again]
                gone += len(report.get(section, [])) - len(kept)
                if section in report:
                    report[section] = kept
            if gone:
                machine[f"measured again since, {other_name}"] = f"{gone} rows, {later.get('measured', '')}"


def compact(report):
    """JSON of a report: one line for each fact and each row."""
    def entry(key, value):
        text = [json.dumps(item, ensure_ascii=False) for item in value] if isinstance(value, list) else \
            [f"{json.dumps(name)}: {json.dumps(item, ensure_ascii=False)}" for name, item in value.items()]
        begin, end = "[]" if isinstance(value, list) else "{}"
        return f' "{key}": {begin}' + ("\n  " + ",\n  ".join(text) + "\n " if text else "") + end
    return "{\n" + ",\n".join(entry(key, value) for key, value in report.items()) + "\n}\n"


def read(path):
    try:
        report = json.loads(path.read_text())
        report["machine"]["name"]
        return report
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"page.py: {path} cannot be read as a report of specklescope bench --json ({error}).")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path, default=Path("docs/benchmarks.md"))
    parser.add_argument("reports", type=Path, nargs="+")
    asked = parser.parse_args()
    paths = {path.stem: path for path in asked.reports}
    reports = {name: read(path) for name, path in paths.items()}
    keep_newest(reports)
    for name, report in list(reports.items()):
        if any(report.get(make.__name__) for _, make, _ in SECTIONS):
            paths[name].write_text(compact(report))
        else:
            print(f"page.py: {paths[name]} has no rows left. Delete it and its page.")
            del reports[name]
    folder = asked.page.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    pages = []
    for name, report in reports.items():
        drawn = {f"{name}-{chart}.svg": text for chart, text in charts(report).items()}
        for chart, text in drawn.items():
            (folder / chart).write_text(text)
        (folder / f"{name}.md").write_text(machine_page(report, drawn))
        pages.append((report, f"{folder.name}/{name}.md", [f"{folder.name}/{chart}" for chart in drawn]))
    others = ""
    if text := published_page(list(reports.values())):
        (folder / "published.md").write_text(text)
        others = f"- [what was published, and what it takes here]({folder.name}/published.md)\n"
    asked.page.write_text(overview_page(pages, others))


if __name__ == "__main__":
    main()
