"""Arrays in a chain's own host memory: type, lifetime, refused calls."""
import ctypes
import gc
import threading

import numpy as np
import pytest

import specklescope as ss

import cuda_arrays

needs_gpu = pytest.mark.skipif(cuda_arrays.RUNTIME is None, reason=cuda_arrays.WHY_NOT)


@pytest.fixture
def chain():
    with ss.Chain("speckle:output=contrast", backend="cpu") as made:
        yield made


@pytest.mark.parametrize("dtype", ["uint8", np.uint16, np.dtype("float32")])
@pytest.mark.parametrize("shape", [(45, 67), (45, 67, 3), (7, 45, 67), [1, 1], (np.int64(3), 5)])
def test_it_is_an_array_as_of_numpy(chain, shape, dtype):
    made = chain.empty(shape, dtype)
    assert type(made) is np.ndarray and made.dtype == dtype and made.shape == tuple(shape)
    assert made.flags.c_contiguous and made.flags.writeable and made.flags.aligned
    assert made.ctypes.data % 64 == 0
    made[...] = 3
    assert (made == 3).all()


def test_frames_and_results_in_it_are_as_elsewhere(chain, rng):
    images = rng.integers(0, 4096, (5, 45, 67), np.uint16)
    frames, out = chain.empty(images.shape, np.uint16), chain.empty((45, 67), np.float32)
    frames[...] = images
    with ss.Chain("speckle:output=contrast", backend="cpu") as other:
        for frame, image in zip(frames, images):
            assert chain(frame, out=out) is out
            np.testing.assert_array_equal(out, other(image))


def test_it_outlives_the_chain():
    chain = ss.Chain("", backend="cpu")
    made = chain.empty((300, 400), np.uint16)
    made[...] = 7
    row = made[5]
    chain.close()
    del chain, made
    gc.collect()
    row[...] = 9
    assert (row == 9).all()


def test_its_memory_goes_with_the_last_array(chain):
    size = 64 << 20

    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    before = resident()
    for _ in range(20):
        chain.empty((size,), np.uint8)[...] = 1
    assert resident() < before + 3 * size


def test_it_is_given_while_another_thread_is_in_a_call(chain):
    frame, done = np.ones((500, 600), np.uint16), threading.Event()

    def work():
        while not done.is_set():
            chain(frame)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(500):
            chain.empty((8, 9), np.uint8)
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("shape, dtype, sentence", [
    ((8, 9), np.float64, "There is no memory for float64; allowed: uint8, uint16, float32."),
    ((8, 9), ">u2", "There is no memory for >u2; allowed:"),
    ((8, 9), None, "There is no memory for float64; allowed:"),
    ((8, 9), "numbers", "There is no memory for numbers; allowed:"),
    ((8, 0), np.uint8, "An array of the shape (8, 0) is not possible; allowed: whole numbers above 0"),
    ((-8, 9), np.uint8, "An array of the shape (-8, 9) is not possible;"),
    ((8.5, 9), np.uint8, "An array of the shape (8.5, 9) is not possible;"),
    ((), np.uint8, "An array of the shape () is not possible;"),
    (8, np.uint8, "An array of the shape 8 is not possible;"),
])
def test_what_is_no_array_is_refused(chain, shape, dtype, sentence):
    with pytest.raises(ss.UsageError) as error:
        chain.empty(shape, dtype)
    assert sentence in str(error.value) and str(error.value).endswith(".")


@pytest.mark.parametrize("shape", [(1 << 30, 1 << 30), (1 << 40, 1 << 40), (1 << 70, 1)])
def test_more_than_there_is_is_refused(chain, shape):
    with pytest.raises(ss.RunError, match="Memory for frames and results would take .* are available; ask for less"):
        chain.empty(shape, np.uint16)


def test_a_closed_chain_has_none():
    chain = ss.Chain("", backend="cpu")
    chain.close()
    with pytest.raises(ss.UsageError, match="chain"):
        chain.empty((8, 9), np.uint8)


@needs_gpu
def test_it_is_page_locked_on_a_gpu(rng):
    def kind(array):
        told = (ctypes.c_int * 16)()  # cudaPointerAttributes begins with its type
        assert cuda_arrays.RUNTIME.cudaPointerGetAttributes(ctypes.byref(told), ctypes.c_void_p(array.ctypes.data)) == 0
        return told[0]

    images = rng.integers(0, 4096, (3, 45, 67), np.uint16)
    with ss.Chain("speckle:output=contrast", backend="cuda") as chain, ss.Chain("speckle:output=contrast", backend="cuda") as other:
        frame, out = chain.empty((45, 67), np.uint16), chain.empty((45, 67), np.float32)
        assert kind(frame) == kind(out) == 1 and kind(np.ones(4096)) == 0
        for image in images:
            frame[...] = image
            np.testing.assert_array_equal(chain(frame, out=out), other(image))
