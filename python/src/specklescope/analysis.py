"""Analysis of tables of traces (``--traces``) with pandas. Requires ``pip install 'specklescope[analysis]'``.

    from specklescope import analysis
    traces = analysis.read_traces("traces.csv")
    analysis.pulse(traces).regions[["region", "pulse_hz", "pulsatility"]]
    analysis.trials(traces, "stimulus", before_s=2, after_s=10)
    analysis.plot_traces(traces).savefig("traces.pdf")

Every function returns a tidy table: one row per observation. Formulas: docs/science.md and the functions.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from ._errors import RunError, UsageError

try:
    import pandas as pd
    from scipy.integrate import trapezoid

    from ._figures import plot_groups, plot_traces
    from ._groups import group_differences, group_means
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(f"specklescope.analysis requires {missing.name}. Install it with pip install "
                              "'specklescope[analysis]'.", name=missing.name) from None

__all__ = ["Pulse", "Traces", "group_differences", "group_means", "hyperaemia", "plot_groups", "plot_traces",
           "pulse", "read_traces", "responses", "trials"]

Values = NDArray[np.float64]

#: Settings that change the values of a still scene. Exposures within 0.1 % are the same (docs/science.md).
_SETTINGS = ("chain", "channel", "full scale", "map", "mean", "exposure")


@dataclass(frozen=True)
class Traces:
    """A table of traces."""

    #: A row for each frame and region, with the columns of the file. Besides: ``time_s``, the capture time, or the
    #: arrival time if the capture times are constant; ``usable``, false for frames of a warm-up and for frames made
    #: with other settings or another outline than the last ones. Functions of this module use only usable frames.
    frames: pd.DataFrame
    events: pd.DataFrame  #: number, sequence, label, time_s; without those that were removed
    regions: pd.DataFrame  #: region, shape, pixels, outline: the last of each
    about: dict[str, str]  #: source, started, chain, exposure, map, mean …: the last of each
    clock: str = "capture_s"  #: column of time_s

    @property
    def map(self) -> tuple[str, str, str]:
        """Quantity, symbol and unit of the values: ("speckle flow index 1/(2TK²)", "SFI", "1/s")."""
        found = re.fullmatch(r"(.*) (\S+) \((.*)\) of \d+×\d+ pixels", self.about.get("map", ""))
        return (found[1], found[2], found[3]) if found else ("mean", "mean", "")


def read_traces(path: Union[str, os.PathLike[str]]) -> Traces:
    """Reads a table of ``--traces``, of the window or of Stream.traces(). Tables of other programs need the columns
    region, mean, and capture_s or arrival_s. An incomplete last line (of a run that was killed) is left out."""
    about: dict[str, str] = {}
    outlines: dict[str, str] = {}
    events: dict[str, list[str]] = {}
    since: dict[str, int] = {}  # first row with the current settings (""), and with the current outline of a region
    rows: list[str] = []
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        for line in file:
            if not line.startswith("#"):
                rows += [line] if line.strip() else []
            elif event := re.match(r"# event: (\d+,\d+,[^,]*,.*)", line):
                number, *rest = next(csv.reader([event[1]]))
                events[number] = rest
            elif outline := re.match(r"# version \d+, region: (.*): (.*)", line):
                if outlines.setdefault(outline[1], outline[2]) != outline[2]:
                    since[outline[1]] = len(rows) - 1
                outlines[outline[1]] = outline[2]
            elif fact := re.match(r"# (?:version \d+, )?([\w ]+): (.*)", line):
                if fact[1] in _SETTINGS and _differ(fact[1], about.setdefault(fact[1], fact[2]), fact[2]):
                    since[""] = len(rows) - 1
                about[fact[1]] = fact[2]
    if rows and len(rows) > 1 and not rows[-1].endswith("\n"):
        rows.pop()
    frames = pd.read_csv(io.StringIO("".join(rows)), converters={"region": str}) if rows else None
    if frames is None or not {"region", "mean"} <= set(frames) or not {"capture_s", "arrival_s"} & set(frames):
        raise UsageError(f"'{os.fspath(path)}' holds no table of traces. Name a file that --traces wrote, or a table with the "
                         "columns capture_s, region and mean.")
    first = frames["region"].map(lambda name: max(since.get("", 0), since.get(_one_line(name), 0)))
    frames["usable"] = (frames.index >= first) & ~(frames.get("warming_up", pd.Series(0, frames.index)) > 0)
    clock = _clock(frames)
    frames["time_s"] = frames[clock]
    if len(frames) and frames["time_s"].isna().all():
        raise UsageError(f"'{os.fspath(path)}' has no capture times, because its frame rate was not given. Record the traces again "
                         "with --rate.")
    regions = [(name, *_shape(text)) for name, text in outlines.items()]
    return Traces(frames, _events(events, frames, clock), pd.DataFrame(regions, columns=["region", "shape", "pixels", "outline"]),
                  about, clock)


def _one_line(text: str) -> str:
    return re.sub(r"[\r\n]", " ", text)


def _differ(name: str, before: str, now: str) -> bool:
    if name == "map":  # without the size of the image
        before, now = (text.rpartition(" of ")[0] for text in (before, now))
    if name == "exposure":
        a, b = (float(re.sub(r" .*", "", text)) if text[:1].isdigit() else 0.0 for text in (before, now))
        return b > 0 and abs(a - b) > 1e-3 * max(a, b)
    return before != now


def _shape(text: str) -> tuple[str, int, str]:
    found = re.fullmatch(r"(.*), (\d+) pixels?, outline (\w+)", text)
    return (found[1], int(found[2]), found[3]) if found else (text, 0, "")


def _clock(frames: pd.DataFrame) -> str:
    """The capture times, unless they are constant."""
    if "arrival_s" not in frames or "capture_s" not in frames:
        return "capture_s" if "capture_s" in frames else "arrival_s"
    used = frames[frames["usable"]].groupby("region")["capture_s"]
    constant = used.max().eq(used.first()).all() and frames["capture_s"].notna().any()
    return "arrival_s" if constant else "capture_s"


def _events(events: dict[str, list[str]], frames: pd.DataFrame, clock: str) -> pd.DataFrame:
    """Events at the time of their frame; without this frame at their own time, if it is on the same clock."""
    at = frames.drop_duplicates("sequence").set_index("sequence")["time_s"] if "sequence" in frames else pd.Series(dtype=float)
    report = [(int(number), int(sequence), label, at.get(int(sequence), float(time or "nan") if clock == "capture_s" else np.nan))
            for number, (sequence, time, label) in sorted(events.items(), key=lambda one: int(one[0])) if label]
    return pd.DataFrame(report, columns=["number", "sequence", "label", "time_s"])


# ---- Pulse and trials are computed by the program, so that both give the same numbers.


def _run(traces: Traces, *words: str, result: str) -> str:
    """Runs the program on the usable frames; returns the text of the file `result`, which the words name."""
    program = os.environ.get("SPECKLESCOPE_PROGRAM") or shutil.which("specklescope")
    if not program:
        raise RunError("The program specklescope is not on PATH. Install it, or set SPECKLESCOPE_PROGRAM to its file.")
    columns = {name: name for name in ("sequence", "time_s", "region", "mean") if name in traces.frames}
    with tempfile.TemporaryDirectory() as folder:
        with open(Path(folder, "traces.csv"), "w", encoding="utf-8", newline="") as file:
            for name in ("map", "mean"):
                file.write(f"# version 0, {name}: {traces.about[name]}\n" if name in traces.about else "")
            for event in traces.events.itertuples():
                label = str(event.label).replace('"', '""')
                file.write(f'# event: {event.number},{event.sequence},{event.time_s},"{label}"\n')
            used = traces.frames.loc[traces.frames["usable"], list(columns)]
            used.rename(columns={"time_s": "capture_s"}).to_csv(file, index=False)
        done = subprocess.run([program, words[0], "traces.csv", *words[1:]], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise (UsageError if done.returncode == 2 else RunError)(done.stderr.strip())
        return Path(folder, result).read_text(encoding="utf-8")


class Pulse(NamedTuple):
    """The pulse of each region."""

    regions: pd.DataFrame  #: pulse_hz, pulsatility, pulsatility_std, beat_s … of each region; why_none: the reason if no pulse was found
    beats: pd.DataFrame  #: region, begin_s, seconds, pulsatility of each beat
    spectra: pd.DataFrame  #: region, hz, density: Welch's power density in unit²/Hz


def pulse(traces: Traces) -> Pulse:
    """Heart rate and pulsatility of each region, as ``specklescope pulse``: the largest significant peak of Welch's
    spectrum, and (max − min)/mean of each beat (docs/science.md, Pulse)."""
    report = json.loads(_run(traces, "pulse", "--json", "pulse.json", result="pulse.json"))["regions"]
    beats = [{"region": one["region"], **beat} for one in report for beat in one.pop("beats")]
    spectra = [pd.DataFrame({"region": one["region"], "hz": np.arange(len(density)) * one["step_hz"], "density": density})
               for one in report if (density := one.pop("density"))]
    for one in report:
        one["low_hz"], one["high_hz"] = one.pop("band_hz")
    regions = pd.DataFrame(report)
    return Pulse(regions.astype({"pulse_hz": float, "pulsatility": float}) if report else regions,
                 pd.DataFrame(beats, columns=["region", "begin_s", "seconds", "pulsatility"]),
                 pd.concat(spectra, ignore_index=True) if spectra else pd.DataFrame(columns=["region", "hz", "density"]))


def trials(traces: Traces, label: str, before_s: float = 2, after_s: float = 10) -> pd.DataFrame:
    """Mean and standard error around the events of a label, as ``specklescope trials``: region, offset_s, mean, sem,
    trials, and percent of the mean before the event (docs/science.md, Trials)."""
    text = _run(traces, "trials", "--around", label, "--before", str(before_s), "--after", str(after_s), "--csv", "means.csv",
                result="means.csv")
    rows = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("#"))
    return pd.read_csv(io.StringIO(rows), converters={"region": str})


# ---- Responses of single events.


def _mean(traces: Traces, values: Values) -> float:
    """Mean over frames in the way of the region's mean: over K² for K and c/K² (docs/science.md, Regions)."""
    return float(_back(traces, np.mean(_forth(traces, values)))) if len(values) else float("nan")


def _kind(traces: Traces) -> str:
    text = traces.about.get("mean", "")
    return "inverses" if "1/⟨1/value⟩" in text else "squares" if text.startswith("the root of the mean of K²") else "plain"


def _forth(traces: Traces, values: Values) -> Values:
    with np.errstate(divide="ignore"):
        return 1 / values if (kind := _kind(traces)) == "inverses" else values**2 if kind == "squares" else values


def _back(traces: Traces, values: Any) -> Any:
    with np.errstate(divide="ignore"):
        return 1 / values if (kind := _kind(traces)) == "inverses" else np.sqrt(values) if kind == "squares" else values


def _region_traces(traces: Traces, label: str) -> list[tuple[str, Values, Values, pd.DataFrame]]:
    """(region, times, finite values, events of the label) for each region."""
    events = traces.events[(traces.events["label"] == label) & traces.events["time_s"].notna()]
    if events.empty:
        labels = ", ".join(sorted(set(traces.events["label"]))) or "none; the table has no events"
        raise UsageError(f"No event has the label '{label}' and a time. Labels of this table: {labels}.")
    frames = traces.frames[traces.frames["usable"] & np.isfinite(traces.frames["mean"]) & traces.frames["time_s"].notna()]
    each = []
    for region, rows in frames.groupby("region", sort=False):
        times = rows["time_s"].to_numpy(float)
        if (np.diff(times) < 0).any():
            raise UsageError(f"The times of region '{region}' go back. Split the table there.")
        each.append((str(region), times, rows["mean"].to_numpy(float), events))
    return each


def _crossing(times: Values, values: Values, level: float) -> float:
    """Time at which values fall to `level` for the first time, linear between frames; NaN: they do not."""
    below = np.flatnonzero(values <= level)
    if not len(below):
        return float("nan")
    i = int(below[0])
    if i == 0 or values[i] == level:
        return float(times[i])
    return float(times[i - 1] + (times[i] - times[i - 1]) * (values[i - 1] - level) / (values[i - 1] - values[i]))


def responses(traces: Traces, label: str, before_s: float = 2, after_s: float = 10) -> pd.DataFrame:
    """Response of each region to each event of a label, a row each, as *Response* in the window (docs/science.md,
    Response): F₀ is the mean of the `before_s` seconds before the event, the peak the value furthest from F₀ in the
    `after_s` seconds from the event on.

    Columns: region, number and time_s of the event, baseline F₀, mean, peak, amplitude (peak − F₀), percent
    100·(peak/F₀ − 1), latency_s from the event to the peak, half_s from the event until half of the amplitude (linear
    between frames), area ∫(F − F₀)dt by trapezoids, frames. NaN if the window exceeds the trace.
    """
    rows = []
    for region, times, values, events in _region_traces(traces, label):
        step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
        for event in events.itertuples():
            at = float(event.time_s)
            row: dict[str, Any] = {"region": region, "number": event.number, "time_s": at}
            rows.append(row)
            before = values[(times >= at - before_s) & (times < at)]
            inside = (times >= at) & (times <= at + after_s)
            row["frames"] = int(inside.sum())
            whole = len(times) and times[0] - step <= at - before_s and at + after_s <= times[-1] + step
            if not whole or not len(before) or not inside.any():
                continue
            t, v, f0 = times[inside], values[inside], _mean(traces, before)
            peak = int(np.argmax(np.abs(v - f0)))
            height = abs(v[peak] - f0)
            row |= {"baseline": f0, "mean": _mean(traces, v), "peak": v[peak], "amplitude": v[peak] - f0,
                    "percent": 100 * (v[peak] / f0 - 1), "latency_s": t[peak] - at,
                    "half_s": _crossing(t, -(v - f0) * np.sign(v[peak] - f0), -height / 2) - at,
                    "area": float(trapezoid(v - f0, t))}
    return pd.DataFrame(rows, columns=["region", "number", "time_s", "baseline", "mean", "peak", "amplitude", "percent",
                                       "latency_s", "half_s", "area", "frames"])


def _running_mean(traces: Traces, times: Values, values: Values, seconds: float) -> Values:
    """Mean over the frames within half of `seconds` on either side, in the way of the region's mean."""
    sums = np.concatenate([[0.0], np.cumsum(_forth(traces, values))])
    first = np.searchsorted(times, times - seconds / 2 - 1e-9, side="left")
    last = np.searchsorted(times, times + seconds / 2 + 1e-9, side="right")
    smooth: Values = _back(traces, (sums[last] - sums[first]) / (last - first))
    return smooth


def hyperaemia(traces: Traces, release: str, rest: str | tuple[float, float], rest_s: float = 60, until_s: float = 300,
               smooth_s: float = 2) -> pd.DataFrame:
    """Reactive hyperaemia after an occlusion: of each region after each event `release` (the cuff opens), a row each.

    `rest` is the label of the event at which the occlusion begins, the resting flow then being the mean of the `rest_s`
    seconds before the last one, or an interval (from, to) of time_s. After the release the trace is smoothed by a
    running mean over `smooth_s` seconds, which removes the heart beat and does not reach back into the occlusion.

    Columns: region, number and time_s of the event; rest; occluded, the mean between occlusion and release (NaN for an
    interval); peak, the maximum of the smoothed trace in the `until_s` seconds after the release; percent, 100·(peak/rest − 1);
    time_to_peak_s, from the release; half_recovery_s, from the peak until the smoothed trace falls to (peak + rest)/2;
    duration_s, from the release until it falls to the rest; area, ∫(F − rest)dt by trapezoids around the peak while the
    smoothed trace is above the rest (to the end of the window if it does not fall to it). A value that the trace does not have is NaN.

    The parameters are those of laser Doppler flowmetry: Tee et al. 2004, J. Pharmacol. Toxicol. Methods 50:73; Cracowski et
    al. 2006, Trends Pharmacol. Sci. 27:503. The values must rise with flow: a map of a flow index, not of K, K² or τ.
    """
    if traces.map[1] in ("K", "K²", "τ"):
        raise UsageError(f"The traces are of {traces.map[1]}, which falls where flow rises. Record the traces of a flow index.")
    rows = []
    for region, times, values, events in _region_traces(traces, release):
        for event in events.itertuples():
            at = float(event.time_s)
            begin, end = rest if not isinstance(rest, str) else (np.nan, _last_before(traces, rest, at))
            begin = end - rest_s if isinstance(rest, str) else begin
            level = _mean(traces, values[(times >= begin) & (times < end)])
            occluded = _mean(traces, values[(times >= end) & (times < at)]) if isinstance(rest, str) else np.nan
            inside = (times >= at) & (times <= at + until_s)
            row: dict[str, Any] = {"region": region, "number": event.number, "time_s": at, "rest": level, "occluded": occluded}
            rows.append(row)
            if not inside.any() or not np.isfinite(level):
                continue
            t, v = times[inside], values[inside]
            smooth = _running_mean(traces, t, v, smooth_s)
            peak = int(np.argmax(smooth))
            row |= {"peak": smooth[peak], "percent": 100 * (smooth[peak] / level - 1), "time_to_peak_s": t[peak] - at}
            if smooth[peak] <= level:
                continue
            half, back = (_crossing(t[peak:], smooth[peak:], down) for down in ((smooth[peak] + level) / 2, level))
            first = peak - int(np.argmax(np.append(smooth[peak::-1] <= level, True))) + 1
            last = len(t) if np.isnan(back) else int(np.searchsorted(t, back))
            row |= {"half_recovery_s": half - t[peak], "duration_s": back - at,
                    "area": float(trapezoid(v[first:last] - level, t[first:last]))}
    return pd.DataFrame(rows, columns=["region", "number", "time_s", "rest", "occluded", "peak", "percent", "time_to_peak_s",
                                       "half_recovery_s", "duration_s", "area"])


def _last_before(traces: Traces, label: str, time_s: float) -> float:
    times = traces.events.loc[(traces.events["label"] == label) & (traces.events["time_s"] < time_s), "time_s"]
    if times.empty:
        raise UsageError(f"No event '{label}' lies before {time_s:.3f} s. Give rest as an interval of time_s, such as (0, 60).")
    return float(times.max())
