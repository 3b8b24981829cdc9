"""Group statistics against scipy, their coverage in simulated studies, and figures against the table."""
import numpy as np
import pytest

import specklescope as ss

pd = pytest.importorskip("pandas")
stats = pytest.importorskip("scipy.stats")
pytest.importorskip("matplotlib")
analysis = pytest.importorskip("specklescope.analysis")


def study(rng, n=12, effect=30.0, recordings=3):
    """Two groups of n subjects, two regions, several recordings of each subject."""
    return pd.DataFrame([{"recording": f"{group}{s}-{r}", "subject": f"{group}{s}", "group": group, "region": region,
                          "mean": 100 + (effect if group == "treated" else 0) + level + rng.normal(0, 2)}
                         for group in ("sham", "treated") for s in range(n) for region in ("left", "right")
                         for level in [rng.normal(0, 10)] for r in range(recordings)])


def per_subject(table, region, group):
    return table[(table["region"] == region) & (table["group"] == group)].groupby("subject")["mean"].mean().to_numpy()


def test_intervals_are_those_of_scipy(rng):
    table = study(rng)
    means = analysis.group_means(table, "mean").set_index(["region", "group"])
    off = analysis.group_differences(table, "mean", "sham").set_index("region")
    for region in ("left", "right"):
        a, b = per_subject(table, region, "treated"), per_subject(table, region, "sham")
        for group, values in (("treated", a), ("sham", b)):
            row = means.loc[(region, group)]
            assert row["n"] == 12 and row["mean"] == pytest.approx(values.mean()) and row["std"] == pytest.approx(values.std(ddof=1))
            wanted = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
            assert (row["low"], row["high"]) == pytest.approx(wanted)
        wanted = stats.ttest_ind(a, b, equal_var=False)
        assert off.loc[region, "p"] == pytest.approx(wanted.pvalue) and off.loc[region, "difference"] == pytest.approx(a.mean() - b.mean())
        assert tuple(off.loc[region, ["low", "high"]]) == pytest.approx(tuple(wanted.confidence_interval(0.95)))


def test_paired_differences_are_of_subjects_in_both_groups(rng):
    before, after = rng.normal(100, 20, 10), rng.normal(5, 2, 10)
    table = pd.DataFrame({"subject": [*range(10), *range(10), 99], "group": ["rest"] * 10 + ["drug"] * 11, "region": "x",
                          "mean": [*before, *(before + after), 1000]})
    row, = analysis.group_differences(table, "mean", "rest", paired=True).to_dict("records")
    wanted = stats.ttest_rel(before + after, before)
    assert row["n"] == 10 and row["difference"] == pytest.approx(after.mean()) and row["p"] == pytest.approx(wanted.pvalue)
    assert (row["low"], row["high"]) == pytest.approx(tuple(wanted.confidence_interval(0.95)))


def test_recordings_of_one_subject_are_not_further_subjects(rng):
    table = study(rng, recordings=1)
    pd.testing.assert_frame_equal(analysis.group_means(table, "mean"), analysis.group_means(pd.concat([table] * 5), "mean"))


@pytest.mark.parametrize("method, studies, least", [("t", 400, 0.92), ("bootstrap", 60, 0.80)])
def test_intervals_hold_the_truth_as_often_as_stated(method, studies, least):
    rng, held = np.random.default_rng(7), 0
    for _ in range(studies):
        table = pd.DataFrame({"subject": range(40), "group": ["a"] * 20 + ["b"] * 20, "region": "x",
                              "mean": np.concatenate([rng.normal(10, 1, 20), rng.normal(13, 4, 20)])})
        row = analysis.group_differences(table, "mean", "a", method=method).iloc[0]
        held += row["low"] <= 3 <= row["high"]
    assert least <= held / studies <= 0.999


def test_bootstrap_is_repeatable_and_near_t_for_many_normal_subjects(rng):
    table = study(rng, n=40)
    first = analysis.group_means(table, "mean", method="bootstrap")
    pd.testing.assert_frame_equal(first, analysis.group_means(table, "mean", method="bootstrap"))
    t = analysis.group_means(table, "mean")
    np.testing.assert_allclose((first["high"] - first["low"]) / (t["high"] - t["low"]), 1, atol=0.15)


def test_one_subject_has_no_interval_and_wrong_names_are_refused(rng):
    table = study(rng, n=1)
    assert analysis.group_means(table, "mean")[["std", "low", "high"]].isna().to_numpy().all()
    assert analysis.group_differences(table, "mean", "sham")[["low", "high", "p"]].isna().to_numpy().all()
    for refused in (lambda: analysis.group_means(table, "median"), lambda: analysis.group_differences(table, "mean", "placebo")):
        with pytest.raises(ss.UsageError):
            refused()


def test_figures_hold_the_numbers_and_are_files_of_any_kind(tmp_path, rng):
    times = np.delete(np.arange(200) * 0.1, slice(50, 60))  # ten dropped frames
    rows = "".join(f"{t},{name},{v},{b}\n" for t in times for name, v, b in (("a", 10 + np.sin(t), 10), ("b", 20 + np.cos(t), 21)))
    (tmp_path / "t.csv").write_text("# event: 1,7,12.5,flash\ncapture_s,region,mean,baseline\n" + rows)
    traces = analysis.read_traces(tmp_path / "t.csv")
    figure = analysis.plot_traces(traces)
    curve, base = figure.axes[0].lines[:2]
    values = np.asarray(curve.get_ydata())
    assert np.isnan(values[50]) and np.isnan(values).sum() == 1
    np.testing.assert_array_equal(values[~np.isnan(values)], traces.frames.loc[traces.frames["region"] == "a", "mean"])
    assert list(base.get_ydata()) == [10, 10] and figure.axes[0].lines[-1].get_xdata()[0] == 12.5
    assert len(analysis.plot_traces(traces, regions=["b"]).axes[0].lines) == 3

    table = study(rng)
    groups = analysis.plot_groups(table, "mean", label="SFI (1/s)")
    assert [axes.get_title() for axes in groups.axes] == ["left", "right"] and groups.axes[0].get_ylabel() == "SFI (1/s)"
    np.testing.assert_allclose(np.sort(groups.axes[1].lines[0].get_ydata()), np.sort(per_subject(table, "right", "sham")))
    for one, name, begin in ((figure, "t.pdf", b"%PDF"), (figure, "t.svg", b"<?xml"), (groups, "g.pdf", b"%PDF"), (groups, "g.png", b"\x89PNG")):
        one.savefig(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(begin)
