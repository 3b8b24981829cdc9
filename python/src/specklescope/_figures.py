"""Figures of traces and groups, for figure.savefig("name.pdf") or .svg."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ._groups import Method, group_means, subject_means

if TYPE_CHECKING:
    from .analysis import Traces


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)


def plot_traces(traces: Traces, regions: Sequence[str] | None = None, column: str = "mean",
                size: tuple[float, float] = (7, 3)) -> Figure:
    """The traces of all or some regions, with their events and their baselines F₀ (dashed, if the table has them). Dropped
    frames leave gaps. `column`: a column of traces.frames, such as "change_percent". size: in inches."""
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots()
    frames = traces.frames[traces.frames["usable"]]
    for name, rows in frames.groupby("region", sort=False):
        if regions is not None and name not in regions:
            continue
        times, values = rows["time_s"].to_numpy(float), rows[column].to_numpy(float)
        steps = np.diff(times)
        gaps = np.flatnonzero(steps > 1.5 * np.median(steps)) + 1 if len(steps) else np.array([], int)
        line, = axes.plot(np.insert(times, gaps, np.nan), np.insert(values, gaps, np.nan), linewidth=1, label=str(name))
        if column == "mean" and "baseline" in rows and rows["baseline"].notna().any():
            axes.axhline(rows["baseline"].dropna().iloc[-1], color=line.get_color(), linestyle="--", linewidth=0.8)
    for event in traces.events.dropna(subset="time_s").itertuples():
        axes.axvline(event.time_s, color="0.3", linewidth=0.8)
        axes.annotate(event.label, (event.time_s, 1), xycoords=("data", "axes fraction"), xytext=(0, 2),
                      textcoords="offset points", ha="center", va="bottom", fontsize="small")
    _, symbol, unit = traces.map
    axes.set_xlabel("time (s)")
    axes.set_ylabel("change (%)" if column == "change_percent" else f"{symbol} ({unit})" if column == "mean" and unit else column)
    axes.margins(x=0)
    if axes.lines and axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
    _plain(axes)
    return figure


def plot_groups(study: pd.DataFrame, value: str, *, group: str = "group", subject: str = "subject", by: str = "region",
                label: str = "", level: float = 0.95, method: Method = "t", size: tuple[float, float] | None = None) -> Figure:
    """One panel for each region (`by`): a point for each subject, and mean and confidence interval of each group, as
    group_means() gives them. label: of the value axis, with its unit."""
    points = subject_means(study, value, group, subject, [by])
    means = group_means(study, value, group=group, subject=subject, by=[by], level=level, method=method)
    panels, groups = list(dict.fromkeys(points[by])), list(dict.fromkeys(points[group]))
    figure = Figure(figsize=size or (1 + len(panels) * (0.6 + 0.6 * len(groups)), 3), layout="constrained")
    for axes, panel in zip(figure.subplots(1, max(1, len(panels)), sharey=True, squeeze=False)[0], panels):
        for place, name in enumerate(groups):
            values = points.loc[(points[by] == panel) & (points[group] == name), value].to_numpy(float)
            spread = np.linspace(-0.12, 0.12, len(values)) if len(values) > 1 else np.zeros(len(values))
            axes.plot(place + spread, values, "o", color=f"C{place}", alpha=0.5, markersize=4, markeredgewidth=0)
            for one in means[(means[by] == panel) & (means[group] == name)].itertuples():
                axes.errorbar(place + 0.28, one.mean, [[one.mean - one.low], [one.high - one.mean]], fmt="s", color="k",
                              markersize=4, capsize=3, linewidth=1)
        axes.set_xticks(range(len(groups)), [str(name) for name in groups])
        axes.set_xlim(-0.5, len(groups) - 0.3)
        axes.set_title(str(panel), fontsize="medium")
        _plain(axes)
    figure.axes[0].set_ylabel(label or value)
    return figure
