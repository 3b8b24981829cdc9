"""Host arrays of other libraries by DLPack: read in place, with results of the same library."""
import tracemalloc
import weakref

import numpy as np
import pytest

import specklescope as ss


@pytest.fixture
def chain():
    with ss.Chain("speckle:output=contrast", backend="cpu") as made:
        yield made


class Lent:
    """Offers an array only by DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **_):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_what_offers_dlpack_is_taken(chain, rng):
    image = rng.integers(0, 4096, (30, 41), np.uint16)
    np.testing.assert_array_equal(chain(Lent(image)), chain(image))


class Tensor(Lent):
    """An array of a library with a namespace, as in the array API standard; records all created arrays."""

    made = []

    def __array_namespace__(self):
        return Tensor

    @classmethod
    def from_dlpack(cls, lent):
        cls.made.append(np.from_dlpack(lent))
        return cls(cls.made[-1])

    @classmethod
    def stack(cls, tensors):
        return cls(np.stack([one.array for one in tensors]))

    @property
    def shape(self):
        return self.array.shape

    def __iter__(self):
        return map(Tensor, self.array)


def test_an_array_of_a_library_gives_one_of_the_same(chain, rng):
    for shape in ((30, 41), (30, 41, 3)):
        image = rng.integers(0, 4096, shape, np.uint16)
        made = chain(Tensor(image))
        assert type(made) is Tensor and made.array.ctypes.data == Tensor.made[-1].ctypes.data
        assert made.array.ctypes.data % 64 == 0, "JAX would copy it"
        np.testing.assert_array_equal(made.array, chain(image))
        turned = Tensor(image.swapaxes(0, 1))  # its rows are copied once
        np.testing.assert_array_equal(chain(turned).array, chain(turned.array.copy()))
    image = rng.integers(0, 4096, (30, 41), np.uint16)
    for out in (np.zeros((30, 41), np.float32), Tensor(np.zeros((30, 41), np.float32))):
        assert chain(Tensor(image), out=out) is out
        np.testing.assert_array_equal(getattr(out, "array", out), chain(image))
    assert type(chain(image, out=out)) is Tensor
    chain.set("speckle", output="contrast2").add("crop:width=7")  # another shape
    assert chain(Tensor(image)).shape == (30, 7)
    with pytest.raises(ss.UsageError, match="The frame is an array of float64; allowed: uint8"):
        chain(Typed(np.zeros((8, 8))))


class Typed(Tensor):
    @property
    def dtype(self):
        return self.array.dtype


def test_a_stack_of_a_library_gives_a_stack_of_the_same(rng):
    frames = rng.integers(0, 4096, (3, 30, 41), np.uint16)
    made = ss.speckle(Tensor(frames), backend="cpu")
    assert type(made) is Tensor
    np.testing.assert_array_equal(made.array, ss.speckle(frames, backend="cpu"))


@pytest.mark.parametrize("kind", [np.asarray, Lent, Tensor])
def test_frames_are_read_where_they_lie(kind):
    """NumPy reports its allocations to tracemalloc. With a frame of 32 MiB and a result of 64 kB, no allocation is as
    large as the frame."""
    image = np.ones((4096, 4096), np.uint16)
    chain = ss.Chain("crop:width=128,height=128", backend="cpu")
    chain(kind(image))
    tracemalloc.start()
    chain(kind(image))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < image.nbytes / 4


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_host_arrays_of_a_library_give_arrays_of_it(chain, rng, name):
    library = pytest.importorskip(name, reason=f"{name} is not installed", exc_type=ImportError)
    put = library.asarray if name == "torch" else lambda image: library.device_put(image, library.devices("cpu")[0])
    numbers = library if name == "torch" else library.numpy
    for image in (rng.integers(0, 256, (48, 64), np.uint8), rng.integers(0, 256, (48, 64, 3), np.uint8),
                  rng.random((48, 64), np.float32)):
        given = put(image)
        made = chain(given)
        assert type(made) is type(given) and made.dtype == numbers.float32
        np.testing.assert_array_equal(np.asarray(made), chain(image))
        np.testing.assert_array_equal(np.asarray(chain(given.swapaxes(0, 1))), chain(image.swapaxes(0, 1).copy()))
    stack = rng.integers(0, 256, (3, 48, 64), np.uint8)
    made = ss.speckle(put(stack), backend="cpu")
    assert type(made) is type(given)
    np.testing.assert_array_equal(np.asarray(made), ss.speckle(stack, backend="cpu"))
    if name == "torch":
        out = library.zeros(48, 64)
        assert chain(given, out=out) is out
        np.testing.assert_array_equal(out.numpy(), chain(image))
        with pytest.raises(ss.UsageError, match="The frame lends no memory while it requires gradients"):
            chain(given.clone().requires_grad_())


class LentOnce:
    """Exports separate memory each time, and overwrites it when the export ends."""

    def __init__(self, array):
        self.array = array
        self.memory = bytearray(array.nbytes)

    def __dlpack__(self, **_):
        self.memory[:] = self.array.tobytes()
        made = np.frombuffer(self.memory, self.array.dtype).reshape(self.array.shape)
        made = made[...]  # a separate array, which ends with the export
        weakref.finalize(made, self.spoil)
        return made.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def spoil(self):
        self.memory[:] = bytes(len(self.memory))


def test_what_is_lent_for_one_export_is_read_before_it_ends(chain, rng):
    image = rng.integers(1, 4096, (30, 41), np.uint16)
    lent = LentOnce(image)
    np.testing.assert_array_equal(chain(lent), chain(image))
    assert not any(lent.memory), "the export has ended"
