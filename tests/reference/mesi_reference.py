#!/usr/bin/env python3
"""Writes mesi_reference.hpp: multi-exposure fits by scipy.optimize.least_squares in float64.

K² = β·(ρ²·2B(2x) + 4ρ(1 − ρ)·B(x) + (1 − ρ)²) + ν with B(x) = (e^−x − 1 + x)/x² (Parthasarathy 2008), drawn for random
tissue with noise and rounded to float32, as the stage gets it. Each row: the eight K², then 1/τc in 1/s, ρ, the third
parameter, the root mean square of the residual, and the standard error of 1/τc. ρ is at most 1: where the fit asks for
more, ρ = 1 is held. 0.25 ms … 32 ms; β = 0.5 and ν = 0.002 where they are not fitted.

Run: /usr/bin/python3 mesi_reference.py > mesi_reference.hpp
"""
import numpy as np
from scipy.optimize import least_squares

EXPOSURES = np.array([0.25, 0.5, 1, 2, 4, 8, 16, 32])
BETA, NOISE = 0.5, 0.002
PIXELS = 60


def mixed(x):
    small = sum((-x) ** k / float(np.prod(np.arange(1.0, k + 3))) for k in range(20))
    with np.errstate(over="ignore"):
        return np.where(x < 0.5, small, (np.expm1(-x) + x) / x**2)


def model(rate, rho, beta, noise):
    x = EXPOSURES * rate
    return beta * (2 * rho**2 * mixed(2 * x) + 4 * rho * (1 - rho) * mixed(x) + (1 - rho) ** 2) + noise


def arguments(fit, p):
    """rate, rho, beta, noise of the fitted parameters: log rate, rho and the third."""
    third = p[2] if len(p) > 2 else None
    return np.exp(p[0]), p[1], third if fit == "beta" else BETA, third if fit == "noise" else NOISE


def solve(function, start):
    return least_squares(function, start, method="lm", x_scale="jac", xtol=1e-15, ftol=1e-15, gtol=1e-15,
                         max_nfev=10000)


def fitted(fit, k, start):
    best = solve(lambda p: model(*arguments(fit, p)) - k, start)
    p = best.x
    if p[1] > 1:
        bounded = lambda q: model(*arguments(fit, [q[0], 1.0, *q[1:]])) - k
        best = solve(bounded, [p[0], *p[2:]])
        p = np.array([best.x[0], 1.0, *best.x[1:]])
    residual = model(*arguments(fit, p)) - k
    steps = 1e-6
    jacobian = np.array([(model(*arguments(fit, p + steps * e)) - model(*arguments(fit, p - steps * e))) / (2 * steps)
                         for e in np.eye(len(p))]).T
    covariance = np.linalg.inv(jacobian.T @ jacobian) * (residual @ residual) / (len(k) - len(p))
    return p, np.sqrt(np.mean(residual**2)), np.exp(p[0]) * np.sqrt(covariance[0, 0])


random = np.random.default_rng(2008)
print("// Written by mesi_reference.py; not for editing.\n#pragma once\n\n#include <array>\n")
print("namespace specklescope::test {\n\n// clang-format off")
print(f"inline constexpr int kMesiPixels = {PIXELS};")
print("/// K² of 0.25, 0.5, … 32 ms; 1/τc in 1/s; ρ; β or ν; root mean square of the residual; standard error of 1/τc.")
print("using MesiReference = std::array<std::array<double, 13>, kMesiPixels>;")
for fit in ("flow", "noise", "beta"):
    print(f"inline constexpr MesiReference kMesi{fit.capitalize()} = {{{{")
    for _ in range(PIXELS):
        rate, rho = np.exp(random.uniform(np.log(0.15), np.log(3))), random.uniform(0.4, 0.93)
        beta = random.uniform(0.3, 0.7) if fit == "beta" else BETA
        noise = random.uniform(0, 0.005) if fit == "noise" else NOISE
        k = np.float32(model(rate, rho, beta, noise) + random.normal(0, 0.001, 8)).astype(float)
        start = [np.log(rate), rho] + ([beta] if fit == "beta" else [noise] if fit == "noise" else [])
        p, residual, error = fitted(fit, k, start)
        third = p[2] if len(p) > 2 else 0
        row = [*k, 1000 * np.exp(p[0]), p[1], third, residual, 1000 * error]
        print("    {" + ", ".join(f"{v:.9g}" for v in row) + "},")
    print("}};")
print("// clang-format on\n\n} // namespace specklescope::test")
