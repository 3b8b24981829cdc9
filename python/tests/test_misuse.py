"""Invalid arguments, objects that were never initialised, subinterpreters: one message, and no damage."""
import gc
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import specklescope as ss
from specklescope import _core

SCENE = "synthetic:vessels?width=64&height=48&live=false"
IMAGE = np.zeros((24, 32), np.uint16)


class Enough(Exception):
    pass


@pytest.fixture
def chain():
    with ss.Chain("speckle", backend="cpu") as made:
        yield made


@pytest.fixture
def stream():
    with ss.open(SCENE, frames=3, backend="cpu") as made:
        yield made


def refused(call, sentence):
    with pytest.raises(ss.UsageError) as error:
        call()
    said = str(error.value)
    assert said.startswith(sentence) and said.endswith(".") and "\n" not in said, said


@pytest.mark.parametrize("name, value", [("exposure_ms", "5"), ("exposure_ms", [1]), ("full_scale", b"1"), ("time_ns", 1.5), ("time_ns", None),
                                         ("time_ns", "1"), ("time_ns", 2**63), ("time_ns", -2**63 - 1)])
def test_facts_of_a_frame_that_are_no_numbers_are_refused(chain, tmp_path, name, value):
    refused(lambda: chain(IMAGE, **{name: value}), f"{name} = {value} is not possible; allowed: ")
    if value is not None:  # a recorder uses the current time
        with ss.Recorder(tmp_path / "x.tiff") as recorder:
            refused(lambda: recorder.push(IMAGE, **{name: value}), f"{name} = {value} is not possible; allowed: ")


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -float("inf"), 1e300, 2**70])
def test_times_that_no_clock_has_are_refused(tmp_path, time):
    recorder = ss.Recorder(tmp_path / "x.tiff")
    refused(lambda: recorder.push(IMAGE, time=time), f"The frame's time = {time} s is not possible; allowed: seconds within")
    refused(lambda: recorder.push(IMAGE, time="now"), "time = now is not possible; allowed: a number.")
    refused(lambda: ss.Recorder(tmp_path / "x.tiff", rate="fast"), "rate = fast is not possible; allowed: a number.")


def test_arguments_of_a_stream_that_are_none_are_refused(stream, tmp_path):
    for frame in (2.5, "3", None, 2**64):
        refused(lambda: stream.seek(frame), f"frame = {frame} is not possible; allowed: whole numbers, ")
    refused(lambda: stream.next(timeout="long"), "timeout = long is not possible; allowed: a number.")
    for what in ([], None, 3):
        refused(lambda: stream.record(tmp_path / "x.tiff", what), f"What is to be recorded is '{what}'; allowed: ")
    refused(lambda: ss.open(SCENE, view=3), "A view of the type int is not possible; allowed: a dictionary of what --view takes")
    for make in (lambda: ss.open(SCENE, progress=3), lambda: ss.Chain(progress="x")):
        refused(make, "progress is of the type ")
    refused(lambda: ss.open(SCENE, **{"frames=3,loop": True}), "'frames=3,loop' is the name of no parameter; allowed: ")
    assert stream.pause(1).pause(0).next().sequence == 0
    assert (stream.mark(7), stream.mark(None)) == (1, 2)


def test_values_and_regions_that_are_none_are_refused(chain):
    refused(lambda: chain.set("speckle", radius=np.array([1, 2])), "stage speckle: radius = [1 2] is not possible; allowed: ")
    refused(lambda: chain.set("speckle", **{"radius=3,output": "tau"}), "'radius=3,output' is the name of no parameter; allowed: ")
    cyclic, deep = {"name": "a", "shape": "rectangle", "points": [[0, 0], [3, 3]]}, []
    cyclic["more"] = cyclic
    for _ in range(100000):
        deep = [deep]
    for wrong in ([cyclic], deep, [{"name": "a", "shape": "rectangle", "points": [[float("nan"), 0], [3, 3]]}]):
        refused(lambda: setattr(chain, "regions", wrong), "The regions are no list of dictionaries; allowed: ")
    assert chain.get("speckle", "radius") == "3" and chain.regions == []


def test_an_array_that_describes_itself_wrongly_is_refused(chain):
    class Liar:
        def __init__(self, told):
            self.__cuda_array_interface__ = told

    for told in (None, {}, {"shape": (3, 3), "typestr": "", "data": (64, False), "version": 3}):
        refused(lambda: chain(Liar(told)), "The frame's __cuda_array_interface__ is not of that form (")


def test_an_array_dies_while_it_is_read(chain, rng):
    class Ghost:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            lent, self.array = self.array.__dlpack__(**options), None
            gc.collect()
            return lent

        def __dlpack_device__(self):
            return 1, 0

    image = rng.integers(0, 4096, (60, 80), np.uint16)
    for _ in range(20):
        np.testing.assert_array_equal(chain(Ghost(image.copy())), chain(image))


def test_numpy_is_told_where_a_result_is_no_array_without_a_copy(stream):
    frame = next(stream)
    assert np.array(frame, copy=False).base is not None and np.array(frame, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="A result of uint16 is no array of float64 without a copy"):
        np.array(frame, dtype=np.float64, copy=False)


@pytest.mark.filterwarnings("ignore:.*uninitialized instance:RuntimeWarning")
def test_what_was_never_made_harms_nothing():
    for kind in (_core.Chain, _core.Stream, _core.Recorder):
        with pytest.raises(TypeError):
            kind.__new__(kind).close()
    for kind in (_core.Chain, _core.Stream):  # in a cycle that the collector frees
        sub = type("Sub", (kind,), {})
        one = sub.__new__(sub)
        one.me = one
        del one, sub
    gc.collect()
    for call in (lambda: ss.Frame(None).data, lambda: repr(ss.Frame.__new__(ss.Frame)), lambda: ss.Frame(None).symbol):
        with pytest.raises(AttributeError):
            call()


@pytest.mark.parametrize("error", [Enough(), KeyboardInterrupt(), SystemExit(3)])
def test_what_ends_a_block_is_raised_though_its_end_fails(tmp_path, error):
    def fails():
        raise ss.RunError("The disk is full.")

    stream, recorder = ss.open(SCENE, backend="cpu"), ss.Recorder(tmp_path / "x.tiff")
    for one, what in ((stream, "stream"), (recorder, "recorder")):
        close, one.close = one.close, fails
        error.__notes__ = []
        with pytest.raises(type(error)) as raised:
            with one:
                raise error
        assert raised.value is error and error.__notes__ == [f"The {what}'s end failed, too: The disk is full."]
        with pytest.raises(ss.RunError, match="The disk is full."):
            with one:
                pass
        close()


# Python 3.13 changed the module's name for these calls, and the result of a failed run.
SUBINTERPRETER = textwrap.dedent("""
    import sys
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    {first}
    for _ in range(2):
        other = interpreters.create()
        interpreters.run_string(other, '''if True:
            try:
                import specklescope
            except ImportError as error:
                print(error, flush=True)
        ''')
        interpreters.destroy(other)
    import specklescope as ss
    import numpy as np
    told = []
    stream = ss.open("synthetic:vessels?width=64&height=48&live=false", frames=2, progress=lambda *one: told.append(one))
    print(ss.speckle(np.zeros((9, 8), np.uint8)).shape, len(list(stream)), len(told) > 0)
    """)


@pytest.mark.parametrize("first", ["import specklescope", "pass"])
def test_a_subinterpreter_is_refused_and_the_main_one_goes_on(first):
    done = subprocess.run([sys.executable, "-c", SUBINTERPRETER.format(first=first)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    *said, last = done.stdout.splitlines()
    assert len(said) == 2 and all("subinterpreter" in line for line in said) and last == "(9, 8) 2 True", done.stdout
