"""Statistics of groups of subjects: means and differences with confidence intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from ._errors import UsageError

Method = Literal["t", "bootstrap"]
_RESAMPLES = 9999


def _interval(values: NDArray[np.float64], level: float, method: Method, seed: int) -> tuple[float, float]:
    """Of the mean of one sample."""
    if len(values) < 2:
        return float("nan"), float("nan")
    if method == "bootstrap":
        found = stats.bootstrap((values,), np.mean, n_resamples=_RESAMPLES, confidence_level=level, method="BCa",
                                rng=np.random.default_rng(seed)).confidence_interval
        return float(found.low), float(found.high)
    half = stats.t.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def _difference(a: NDArray[np.float64], b: NDArray[np.float64], level: float, method: Method, seed: int) -> tuple[float, float]:
    """Of mean(a) − mean(b) of independent samples."""
    if min(len(a), len(b)) < 2:
        return float("nan"), float("nan")
    if method == "bootstrap":
        found = stats.bootstrap((a, b), lambda x, y, axis: x.mean(axis) - y.mean(axis), n_resamples=_RESAMPLES,
                                confidence_level=level, method="BCa", rng=np.random.default_rng(seed)).confidence_interval
        return float(found.low), float(found.high)
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    if va + vb == 0:
        return float(a.mean() - b.mean()), float(a.mean() - b.mean())
    freedom = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    half = stats.t.ppf((1 + level) / 2, freedom) * np.sqrt(va + vb)
    return float(a.mean() - b.mean() - half), float(a.mean() - b.mean() + half)


def subject_means(study: pd.DataFrame, value: str, group: str, subject: str, by: Sequence[str]) -> pd.DataFrame:
    """One value per subject, group and `by`: the mean over its recordings."""
    missing = [name for name in (value, group, subject, *by) if name not in study]
    if missing:
        raise UsageError(f"The study has no column '{missing[0]}'. Its columns: {', '.join(map(str, study.columns))}.")
    finite = study[np.isfinite(study[value].astype(float))]
    return finite.groupby([*by, group, subject], sort=False, as_index=False)[value].mean()


def group_means(study: pd.DataFrame, value: str, *, group: str = "group", subject: str = "subject", by: Sequence[str] = ("region",),
                level: float = 0.95, method: Method = "t", seed: int = 0) -> pd.DataFrame:
    """Mean of a column over the subjects of each group, with a confidence interval.

    `study` has a row for each recording and region. The subject is the unit: several recordings of one subject are
    averaged first, since they are not independent. Columns: those of `by`, the group, n subjects, mean, std (n − 1), low
    and high.

    method "t": mean ± t·s/√n, t the quantile (1 + level)/2 of Student's distribution with n − 1 degrees of freedom
    (Student 1908); for values or means that are normal. "bootstrap": bias-corrected and accelerated, 9999 resamples of
    subjects (Efron 1987); not below about 10 subjects a group. NaN for one subject.
    """
    rows: list[dict[str, Any]] = []
    for key, one in subject_means(study, value, group, subject, by).groupby([*by, group], sort=False):
        values = one[value].to_numpy(float)
        low, high = _interval(values, level, method, seed)
        rows.append({**dict(zip([*by, group], key)), "n": len(values), "mean": values.mean(),
                     "std": values.std(ddof=1) if len(values) > 1 else np.nan, "low": low, "high": high})
    return pd.DataFrame(rows, columns=[*by, group, "n", "mean", "std", "low", "high"])


def group_differences(study: pd.DataFrame, value: str, reference: str, *, group: str = "group", subject: str = "subject",
                      by: Sequence[str] = ("region",), paired: bool = False, level: float = 0.95, method: Method = "t",
                      seed: int = 0) -> pd.DataFrame:
    """Difference of each group's mean from that of the group `reference`, with a confidence interval and p.

    Subjects are averaged as in group_means(). Columns: those of `by`, the group, n and n_reference subjects, difference,
    low, high, and p of Welch's test, or of the paired t-test. p is not corrected for several comparisons.

    Unpaired: d = a − b, d ± t·√(s_a²/n_a + s_b²/n_b), with the degrees of freedom of Welch 1947 and Satterthwaite 1946,
    ν = (s_a²/n_a + s_b²/n_b)²/[(s_a²/n_a)²/(n_a − 1) + (s_b²/n_b)²/(n_b − 1)]: variances may differ. paired=True: the subjects
    of both groups, the mean of their differences with n − 1 degrees of freedom. method "bootstrap": as in group_means(), each
    group resampled separately (paired: the differences).
    """
    means = subject_means(study, value, group, subject, by)
    if reference not in set(means[group]):
        raise UsageError(f"No group is '{reference}'. Groups: {', '.join(sorted(map(str, set(means[group]))))}.")
    rows: list[dict[str, Any]] = []
    parts = means.groupby(list(by), sort=False) if by else [((), means)]
    for key, part in parts:
        samples = {name: one.set_index(subject)[value].astype(float) for name, one in part.groupby(group, sort=False)}
        base = samples.pop(reference, pd.Series(dtype=float))
        for name, sample in samples.items():
            row: dict[str, Any] = {**dict(zip(by, key)), group: name}
            rows.append(row)
            if paired:
                off = (sample - base).dropna().to_numpy()
                row |= {"n": len(off), "n_reference": len(off), "difference": off.mean() if len(off) else np.nan}
                row["low"], row["high"] = _interval(off, level, method, seed)
                row["p"] = float(stats.ttest_1samp(off, 0).pvalue) if len(off) > 1 else np.nan
            else:
                a, b = sample.to_numpy(), base.to_numpy()
                row |= {"n": len(a), "n_reference": len(b), "difference": a.mean() - b.mean() if len(b) else np.nan}
                row["low"], row["high"] = _difference(a, b, level, method, seed)
                row["p"] = float(stats.ttest_ind(a, b, equal_var=False).pvalue) if min(len(a), len(b)) > 1 else np.nan
    return pd.DataFrame(rows, columns=[*by, group, "n", "n_reference", "difference", "low", "high", "p"])
