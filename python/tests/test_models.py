"""The models of stage flow against the processes that they describe: light whose field is sampled, integrated over
the exposure, and seen by chance. Nothing of the program's arithmetic is used, but for the contrast that it inverts."""

from __future__ import annotations

import numpy
import pytest

import specklescope as ss

EXPONENT = {"lorentzian": 1.0, "gaussian": 2.0, "sqrt": 0.5}  # field correlation exp(-(t/tau)**n)
SETS, TIMES, LOOKS = 24, 32, 400


def contrast2_of_process(x: float, exponent: float, rho: float, rng: numpy.random.Generator) -> tuple[float, float]:
    """Squared contrast and its standard error of speckle integrated over T = x tau, a part 1 - rho of it static.

    Two sets of times, each with one random time in every part of the exposure, give two estimates of the integrated
    intensity whose mean product has no error of discretisation."""
    estimates = []
    for _ in range(SETS):
        times = (numpy.arange(TIMES) + rng.random((2, TIMES))).ravel() / TIMES
        lag = abs(times[:, None] - times[None, :])
        values, vectors = numpy.linalg.eigh(numpy.exp(-((x * lag) ** exponent)))
        root = vectors * numpy.sqrt(numpy.maximum(values, 0))
        noise = rng.standard_normal((2, 2 * TIMES + 1, LOOKS)) / numpy.sqrt(2)
        moving, static = (root @ noise[i, :-1] for i in (0, 1)), noise[:, -1]
        field2 = sum((numpy.sqrt(rho) * m + numpy.sqrt(1 - rho) * s) ** 2 for m, s in zip(moving, static))
        first, second = field2.reshape(2, TIMES, LOOKS).mean(axis=1)
        estimates.append(numpy.mean((first - 1) * (second - 1)))
    return float(numpy.mean(estimates)), float(numpy.std(estimates, ddof=1) / numpy.sqrt(SETS))


@pytest.mark.parametrize("model", EXPONENT)
@pytest.mark.parametrize("rho", (1.0, 0.6))
def test_a_model_is_its_process_over_four_decades(model: str, rho: float) -> None:
    # The model's contrast at every x, by turning round the table of the program.
    static = (1 - rho) ** 2
    rest = 10 ** -numpy.linspace(0, 6, 20001)[1:]
    contrast2 = (static + (1 - static) * numpy.concatenate([1 - rest[::-1], rest])).astype(numpy.float32)
    x = ss.Chain(f"flow:input=contrast2,model={model},static={1 - rho},exposure=1000")(contrast2[None, :])[0]
    known = numpy.isfinite(x) & (x > 0)
    order = numpy.argsort(x[known])
    seed = 20 + int(10 * rho)
    rng = numpy.random.default_rng(seed)
    z = []
    for wanted in numpy.logspace(-2, 2, 9):
        measured, error = contrast2_of_process(wanted, EXPONENT[model], rho, rng)
        theory = numpy.interp(numpy.log(wanted), numpy.log(x[known][order]), contrast2[known][order])
        z.append((measured - theory) / error)
    print(f"seed {seed}, z:", numpy.round(z, 2))
    assert numpy.abs(z).max() < 3
    assert 0.4 < numpy.sqrt(numpy.mean(numpy.square(z))) < 1.6
