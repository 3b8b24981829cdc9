// Complex Fourier transforms of lines in shared memory, one line per threadIdx.y. Inside kernels only.
#pragma once

#include "cuda/convolve/fft_line.hpp"

namespace specklescope::cuda {

__device__ __forceinline__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ float2 operator-(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ __forceinline__ float2 operator*(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ __forceinline__ float2 conjugate(float2 a) { return make_float2(a.x, -a.y); }
/// Swaps real and imaginary part: applied before and after, it turns a forward transform into a backward one.
__device__ __forceinline__ float2 exchanged(float2 a) { return make_float2(a.y, a.x); }

/// exp(−2πi·k/N) for k = 0 … N − 1, computed at compile time.
template <int N> struct UnitRoots {
    float x[N]{}, y[N]{};

    SPECKLESCOPE_BOTH constexpr UnitRoots() {
        constexpr double kPi = 3.14159265358979323846;
        for (int k = 0; k < N; ++k) {
            // Taylor series around 0, for reduced angles: |angle| ≤ π/4.
            const int quarters = (4 * k + N / 2) / N;
            const double angle = 2 * kPi * k / N - quarters * kPi / 2;
            double cosine = 1, sine = angle, even = 1, odd = angle;
            for (int i = 1; i < 12; ++i) {
                even *= -angle * angle / ((2 * i - 1) * (2 * i));
                odd *= -angle * angle / ((2 * i) * (2 * i + 1));
                cosine += even;
                sine += odd;
            }
            const double c[] = {cosine, -sine, -cosine, sine};
            const double s[] = {sine, cosine, -sine, -cosine};
            x[k] = static_cast<float>(c[quarters % 4]);
            y[k] = static_cast<float>(-s[quarters % 4]);
        }
    }
};

/// a·exp(−2πi·k/N); after unrolling, quarter turns are free.
template <int N> __device__ __forceinline__ float2 turned(float2 a, int k) {
    constexpr UnitRoots<N> kRoots;
    if (4 * k % N == 0)
        switch (4 * k / N % 4) {
        case 0:
            return a;
        case 1:
            return make_float2(a.y, -a.x);
        case 2:
            return make_float2(-a.x, -a.y);
        default:
            return make_float2(-a.y, a.x);
        }
    return a * make_float2(kRoots.x[k], kRoots.y[k]);
}

SPECKLESCOPE_BOTH constexpr int first_factor(int n) {
    if (n == 8 || n == 16 || n == 12)
        return 4;
    return n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : n % 5 == 0 ? 5 : n;
}

/// x ← Σ_j x[j]·exp(−2πi·jk/N), in order.
template <int N> __device__ __forceinline__ void transform(float2 (&x)[N]) {
    constexpr int kA = first_factor(N);
    constexpr int kB = N / kA;
    if constexpr (N == 2) {
        const float2 a = x[0];
        x[0] = a + x[1];
        x[1] = a - x[1];
    } else if constexpr (N == 4) {
        const float2 a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = x[1] - x[3];
        x[0] = a + c;
        x[1] = make_float2(b.x + d.y, b.y - d.x);
        x[2] = a - c;
        x[3] = make_float2(b.x - d.y, b.y + d.x);
    } else if constexpr (kB == 1) { // an odd prime: pairs j and N − j share their products
        constexpr UnitRoots<N> kRoots;
        constexpr int kHalf = N / 2;
        float2 sums[kHalf], differences[kHalf];
        float2 total = x[0];
#pragma unroll
        for (int j = 1; j <= kHalf; ++j) {
            sums[j - 1] = x[j] + x[N - j];
            differences[j - 1] = x[j] - x[N - j];
            total = total + sums[j - 1];
        }
#pragma unroll
        for (int k = 1; k <= kHalf; ++k) {
            float2 even = x[0];
            float2 odd = make_float2(0, 0);
#pragma unroll
            for (int j = 1; j <= kHalf; ++j) {
                even.x += kRoots.x[j * k % N] * sums[j - 1].x;
                even.y += kRoots.x[j * k % N] * sums[j - 1].y;
                odd.x -= kRoots.y[j * k % N] * differences[j - 1].x;
                odd.y -= kRoots.y[j * k % N] * differences[j - 1].y;
            }
            x[k] = make_float2(even.x + odd.y, even.y - odd.x);
            x[N - k] = make_float2(even.x - odd.y, even.y + odd.x);
        }
        x[0] = total;
    } else { // N = A·B: j = B·a + b, k = c + A·d
        float2 y[kB][kA];
#pragma unroll
        for (int b = 0; b < kB; ++b) {
#pragma unroll
            for (int a = 0; a < kA; ++a)
                y[b][a] = x[kB * a + b];
            transform<kA>(y[b]);
        }
#pragma unroll
        for (int c = 0; c < kA; ++c) {
            float2 z[kB];
#pragma unroll
            for (int b = 0; b < kB; ++b)
                z[b] = turned<N>(y[b][c], b * c);
            transform<kB>(z);
#pragma unroll
            for (int d = 0; d < kB; ++d)
                x[c + kA * d] = z[d];
        }
    }
}

/// x[k] ← x[k]·root^k.
template <int N> __device__ __forceinline__ void twiddle(float2 (&x)[N], float2 root) {
    float2 power[N];
    power[1] = root;
#pragma unroll
    for (int k = 2; k < N; ++k) // few products in sequence: rounding errors grow with their number
        power[k] = power[k / 2] * power[k - k / 2];
#pragma unroll
    for (int k = 1; k < N; ++k)
        x[k] = x[k] * power[k];
}

template <int Radix, bool Forward> __device__ __forceinline__ void
line_pass(float2* line, const LinePlan& plan, int p, const float2* roots, int root_step) {
    const LinePass& pass = plan.pass[p];
    const int step = pass.step * root_step;
    for (int t = static_cast<int>(threadIdx.x); t < pass.butterflies; t += static_cast<int>(blockDim.x)) {
        const int block = pass.m == 1 ? t : divided(t, pass.reciprocal);
        const int offset = t - block * pass.m;
        float2* const points = line + plan.place(block * pass.m * Radix + offset);
        const float2 root = __ldg(roots + offset * step); // first, since it has the longest latency
        float2 x[Radix];
#pragma unroll
        for (int k = 0; k < Radix; ++k)
            x[k] = points[k * pass.stride];
        if (!Forward && pass.m > 1)
            twiddle(x, root);
        transform<Radix>(x);
        if (Forward && pass.m > 1)
            twiddle(x, root);
#pragma unroll
        for (int k = 0; k < Radix; ++k)
            points[k * pass.stride] = x[k];
    }
}

template <bool Forward> __device__ __forceinline__ void any_pass(float2* line, const LinePlan& plan, int p,
                                                                 const float2* roots, int root_step) {
    switch (plan.pass[p].radix) {
    case 2:
        line_pass<2, Forward>(line, plan, p, roots, root_step);
        break;
    case 3:
        line_pass<3, Forward>(line, plan, p, roots, root_step);
        break;
    case 4:
        line_pass<4, Forward>(line, plan, p, roots, root_step);
        break;
    case 5:
        line_pass<5, Forward>(line, plan, p, roots, root_step);
        break;
    case 6:
        line_pass<6, Forward>(line, plan, p, roots, root_step);
        break;
    case 7:
        line_pass<7, Forward>(line, plan, p, roots, root_step);
        break;
    case 8:
        line_pass<8, Forward>(line, plan, p, roots, root_step);
        break;
    case 9:
        line_pass<9, Forward>(line, plan, p, roots, root_step);
        break;
    case 10:
        line_pass<10, Forward>(line, plan, p, roots, root_step);
        break;
    case 12:
        line_pass<12, Forward>(line, plan, p, roots, root_step);
        break;
    case 14:
        line_pass<14, Forward>(line, plan, p, roots, root_step);
        break;
    case 15:
        line_pass<15, Forward>(line, plan, p, roots, root_step);
        break;
    default:
        line_pass<16, Forward>(line, plan, p, roots, root_step);
        break;
    }
}

/// Transforms every line of the block. The caller has written the lines without synchronising; the results
/// are visible to all threads.
__device__ __forceinline__ void forward_lines(float2* line, const LinePlan& plan, const float2* roots,
                                              int root_step) {
    for (int p = 0; p < plan.passes; ++p) {
        __syncthreads();
        any_pass<true>(line, plan, p, roots, root_step);
    }
    __syncthreads();
}

/// The inverse without scale, for frequencies in line_order() after exchanged(); the results need exchanged()
/// too.
__device__ __forceinline__ void backward_lines(float2* line, const LinePlan& plan, const float2* roots,
                                               int root_step) {
    for (int p = plan.passes - 1; p >= 0; --p) {
        __syncthreads();
        any_pass<false>(line, plan, p, roots, root_step);
    }
    __syncthreads();
}

} // namespace specklescope::cuda
