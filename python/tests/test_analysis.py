"""specklescope.analysis: tables as the program reads them, its pulse and trials, responses and hyperaemia of known curves."""
import json
import subprocess
import sys

import numpy as np
import pytest

import specklescope as ss

pd = pytest.importorskip("pandas")
stats = pytest.importorskip("scipy.stats")
pytest.importorskip("matplotlib")
analysis = pytest.importorskip("specklescope.analysis")

SCENE = "synthetic:uniform?width=32&height=24&rate=50&pulse=0.5&live=false&speed=0"
REGIONS = [{"name": "all", "shape": "rectangle", "points": [[0, 0], [31, 23]]},
           {"name": 'NA, "b"', "shape": "ellipse", "points": [[5, 5], [20, 20]]}]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """600 frames of a beating scene: a warm-up, three events, one of them removed, and an edit at frame 100."""
    path = tmp_path_factory.mktemp("table") / "traces.csv"
    with ss.open(SCENE, frames=600, backend="cpu", regions=REGIONS).chain("speckle:radius=3", "average:frames=4") as stream:
        stream.traces(path)
        for frame in stream:
            if frame.sequence == 100:
                stream.set("speckle", radius=2)
            if frame.sequence in (200, 300, 400):
                stream.mark("cuff, left")
    with open(path, "a", encoding="utf-8") as file:
        file.write("# event: 3,400,8.0,\n")
    return path


def by_program(program, table, folder, *words):
    subprocess.run([program, words[0], table, *words[1:]], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def test_a_table_has_its_rows_units_regions_and_events(table):
    traces = analysis.read_traces(table)
    rows = [line for line in table.read_text().splitlines() if not line.startswith("#")]
    assert len(traces.frames) == len(rows) - 1 == 1200 and list(traces.frames["region"].unique()) == ["all", 'NA, "b"']
    last = rows[-1].split(",")
    assert traces.frames["mean"].iloc[-1] == pytest.approx(float(rows[-1].rpartition('"')[2].split(",")[1]), rel=1e-14) and traces.frames["time_s"].iloc[-1] == float(last[1]) == 599 / 50
    assert traces.map[1:] == ("SFI", "1/s") and traces.clock == "capture_s" and traces.about["exposure"].startswith("5 ms")
    assert traces.regions.to_dict("records")[1] | {"outline": ""} == {"region": 'NA, "b"', "shape": "ellipse", "pixels": 172, "outline": ""}
    assert traces.events[["number", "sequence", "label"]].values.tolist() == [[1, 200, "cuff, left"], [2, 300, "cuff, left"]]
    assert traces.events["time_s"].tolist() == [4.0, 6.0]


def test_frames_of_other_settings_are_left_out_as_by_the_program(program, table, tmp_path):
    frames = analysis.read_traces(table).frames
    by_program(program, table, tmp_path, "pulse", "--json", "p.json")
    printed = json.loads((tmp_path / "p.json").read_text())
    warm = frames["warming_up"] > 0
    assert printed["left_out_in_warmup"] == warm.sum() > 0
    assert printed["left_out_other_settings"] == (~frames["usable"] & ~warm).sum() > 150
    assert not frames.loc[frames["version"] == 0, "usable"].any()


def test_pulse_and_trials_are_those_of_the_program(program, table, tmp_path, monkeypatch):
    monkeypatch.setenv("SPECKLESCOPE_PROGRAM", program)
    traces = analysis.read_traces(table)
    pulse = analysis.pulse(traces)
    by_program(program, table, tmp_path, "pulse", "--json", "p.json")
    printed = json.loads((tmp_path / "p.json").read_text())["regions"]
    assert pulse.regions["region"].tolist() == [one["region"] for one in printed] == ["all", 'NA, "b"']
    for name in ("pulse_hz", "pulsatility", "beat_s", "mean", "samples"):
        np.testing.assert_allclose(pulse.regions[name], [one[name] for one in printed], rtol=1e-12)
    np.testing.assert_allclose(pulse.spectra["density"], np.concatenate([one["density"] for one in printed]), rtol=1e-9)
    assert len(pulse.beats) == sum(len(one["beats"]) for one in printed) > 10
    assert abs(pulse.regions["pulse_hz"][0] - 1.2) < 0.02  # of the simulated heart

    by_program(program, table, tmp_path, "trials", "--around", "cuff, left", "--before", "1", "--after", "1.5", "--csv", "t.csv")
    wanted = pd.read_csv(tmp_path / "t.csv", comment="#", converters={"region": str})
    is_ = analysis.trials(traces, "cuff, left", before_s=1, after_s=1.5)
    assert list(is_) == list(wanted) and is_["region"].tolist() == wanted["region"].tolist() and len(is_) == 2 * (50 + 75 + 1)
    np.testing.assert_allclose(is_.drop(columns="region"), wanted.drop(columns="region"), rtol=1e-9, atol=1e-12)
    with pytest.raises(ss.UsageError, match="cuff, left"):
        analysis.trials(traces, "flash")


def write(path, times, values, events=(), mean=""):
    """A table of another program."""
    text = f"# version 0, mean: {mean}\n" if mean else ""
    text += "".join(f"# event: {i},{i + 100000},{time},{label}\n" for i, (label, time) in enumerate(events, 1))
    path.write_text(text + "capture_s,region,mean\n" + "".join(f"{t},x,{v}\n" for t, v in zip(times, values)), encoding="utf-8")
    return analysis.read_traces(path)


def test_a_cut_off_line_is_left_out_and_other_files_are_refused(tmp_path):
    write(tmp_path / "t.csv", [0, 1, 2], [3, 4, 5])
    (tmp_path / "t.csv").write_text((tmp_path / "t.csv").read_text() + "3.0,x,6")
    assert analysis.read_traces(tmp_path / "t.csv").frames["mean"].tolist() == [3, 4, 5]
    for text in ("", "# no table\n", "a,b\n1,2\n", "region,mean\nx,1\n"):
        (tmp_path / "t.csv").write_text(text)
        with pytest.raises(ss.UsageError):
            analysis.read_traces(tmp_path / "t.csv")


def test_response_of_a_triangle(tmp_path):
    """10 up to the event at 20 s, then up by 5 in 2 s and down again in 4 s; at 60 s the same downwards."""
    times = np.arange(0, 100, 0.05)
    values = 10 + np.interp(times, [20, 22, 26, 60, 62, 66], [0, 5, 0, 0, -5, 0])
    traces = write(tmp_path / "t.csv", times, values, [("flash", 20), ("flash", 60), ("flash", 95), ("other", 1)])
    up, down, beyond = analysis.responses(traces, "flash", before_s=5, after_s=10).to_dict("records")
    for row, sign in ((up, 1), (down, -1)):
        assert row["baseline"] == pytest.approx(10) and row["amplitude"] == pytest.approx(5 * sign) and row["frames"] == 201
        assert row["latency_s"] == pytest.approx(2) and row["half_s"] == pytest.approx(1) and row["area"] == pytest.approx(15 * sign)
        assert row["percent"] == pytest.approx(50 * sign) and row["mean"] == pytest.approx(10 + 15 * sign / 10, abs=0.01)
    assert np.isnan(beyond["peak"]) and beyond["number"] == 3


def test_the_mean_of_a_response_is_taken_on_k_squared(tmp_path, rng):
    times, values = np.arange(0, 20, 0.1), rng.uniform(50, 100, 200)
    event = [("flash", 10)]
    for mean, wanted in (("of the mean of K², converted as the map is: 1/⟨1/value⟩", lambda v: len(v) / np.sum(1 / v)),
                         ("the root of the mean of K²", lambda v: np.sqrt(np.mean(v**2))), ("", np.mean)):
        row, = analysis.responses(write(tmp_path / "t.csv", times, values, event, mean), "flash", 5, 5).to_dict("records")
        assert row["baseline"] == pytest.approx(wanted(values[(times >= 5) & (times < 10)]))
        assert row["mean"] == pytest.approx(wanted(values[(times >= 10) & (times <= 15)]))


def gamma_table(path, rest=100.0, height=80.0, tau=8.0, beat=0.0, noise=0.0, rng=None):
    """Rest to 60 s, a tenth of it to 180 s, then rest + height·(t/τ)·e^(1 − t/τ)."""
    times = np.arange(0, 480, 0.05)
    after = np.clip(times - 180, 0, None) / tau
    values = np.where((times >= 60) & (times < 180), rest / 10, rest + height * after * np.exp(1 - after))
    values = values * (1 + beat * np.sin(2 * np.pi * 1.2 * times)) + (rng.normal(0, noise, len(times)) if noise else 0)
    return write(path, times, values, [("cuff", 60), ("release", 180)])


def test_hyperaemia_of_a_known_curve(tmp_path):
    rest, height, tau = 100.0, 80.0, 8.0
    row, = analysis.hyperaemia(gamma_table(tmp_path / "t.csv"), "release", "cuff", until_s=200, smooth_s=0).to_dict("records")
    assert row["rest"] == pytest.approx(rest) and row["occluded"] == pytest.approx(rest / 10)
    assert row["peak"] == pytest.approx(rest + height, rel=1e-4) and row["percent"] == pytest.approx(80, rel=1e-4)
    assert row["time_to_peak_s"] == pytest.approx(tau, abs=0.05)
    assert row["half_recovery_s"] == pytest.approx(1.6783469900166608 * tau, abs=0.1)  # x·e^(1 − x) = 1/2 at x = 2.678
    end = 200 / tau
    assert row["area"] == pytest.approx(height * tau * np.e * (1 - (1 + end) * np.exp(-end)), rel=1e-3)
    assert np.isnan(row["duration_s"])  # the curve never falls to the rest
    same, = analysis.hyperaemia(gamma_table(tmp_path / "t.csv"), "release", (10.0, 60.0), until_s=200,
                                smooth_s=0).to_dict("records")
    assert np.isnan(same.pop("occluded")) and same == pytest.approx({k: v for k, v in row.items() if k != "occluded"}, nan_ok=True)


def test_hyperaemia_under_a_heart_beat_and_noise(tmp_path, rng):
    row, = analysis.hyperaemia(gamma_table(tmp_path / "t.csv", beat=0.15, noise=5, rng=rng), "release", "cuff", rest_s=50,
                               smooth_s=2.5).to_dict("records")
    assert row["rest"] == pytest.approx(100, abs=1) and row["peak"] == pytest.approx(180, abs=6)
    assert row["time_to_peak_s"] == pytest.approx(8, abs=3) and row["time_to_peak_s"] + row["half_recovery_s"] == pytest.approx(21.4, abs=1.5)
    assert row["area"] == pytest.approx(80 * 8 * np.e, rel=0.05)


def test_hyperaemia_that_returns_and_none_at_all(tmp_path):
    times = np.arange(0, 100, 0.1)
    values = 50 + np.interp(times, [20, 20.01, 40, 40.01, 45, 65], [0, -50, -50, 0, 20, -20])
    row, = analysis.hyperaemia(write(tmp_path / "t.csv", times, values, [("cuff", 20), ("release", 40)]), "release", "cuff",
                               smooth_s=0).to_dict("records")
    assert row["half_recovery_s"] == pytest.approx(5) and row["duration_s"] == pytest.approx(15, abs=0.01)
    assert row["area"] == pytest.approx(15 * 20 / 2, rel=0.01)
    none, = analysis.hyperaemia(write(tmp_path / "t.csv", times, 50 - times / 10, [("cuff", 20), ("release", 40)]), "release",
                                "cuff").to_dict("records")
    assert none["percent"] < 0 and np.isnan([none["half_recovery_s"], none["area"]]).all()
    with pytest.raises(ss.UsageError):
        analysis.hyperaemia(write(tmp_path / "t.csv", times, values, [("release", 40)]), "release", "cuff")


def test_without_the_program_one_sentence(table, monkeypatch):
    monkeypatch.delenv("SPECKLESCOPE_PROGRAM", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ss.RunError, match="PATH"):
        analysis.pulse(analysis.read_traces(table))


def test_without_pandas_one_sentence():
    code = "import sys; sys.modules['pandas'] = None; import specklescope; import specklescope.analysis"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "specklescope[analysis]" in done.stderr.splitlines()[-1]
