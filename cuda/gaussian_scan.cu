// From what each block of a line adds to the states between the blocks: one thread a line, in float64.
#include "cuda/device.hpp"
#include "cuda/gaussian_recursive.cuh"
#include "cuda/gaussian_scan.hpp"

namespace specklescope::cuda {

namespace {

constexpr int kThreads = 64;
constexpr int kBatch = 8; ///< blocks whose states are loaded at once

struct Vector3 {
    double v[3];
};

__device__ inline Vector3 operator+(const Vector3& a, const Vector3& b) {
    return {{a.v[0] + b.v[0], a.v[1] + b.v[1], a.v[2] + b.v[2]}};
}
__device__ inline Vector3 operator*(const Matrix3& a, const Vector3& b) {
    Vector3 product;
#pragma unroll
    for (int i = 0; i < 3; ++i)
        product.v[i] = fma(a.m[i][0], b.v[0], fma(a.m[i][1], b.v[1], a.m[i][2] * b.v[2]));
    return product;
}
__device__ inline Vector3 wide(const State& s) {
    return {{static_cast<double>(s.w), static_cast<double>(s.d), static_cast<double>(s.e)}};
}

/// Goes through the blocks, from the first (Step = 1) or the last (Step = −1), and calls
/// f(block, states…) with the states of each `Components`, loaded some blocks ahead.
template <int Step, int... Components, class F>
__device__ inline void each_block(const LineStates& states, F&& f) {
#pragma unroll 1
    for (int done = 0; done < states.blocks; done += kBatch) {
        State loaded[kBatch][sizeof...(Components)];
#pragma unroll
        for (int i = 0; i < kBatch; ++i) {
            const int at = min(done + i, states.blocks - 1);
            int n = 0;
            ((loaded[i][n++] = states.load(Components, Step > 0 ? at : states.blocks - 1 - at)), ...);
        }
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
            if (done + i < states.blocks)
                f(Step > 0 ? done + i : states.blocks - 1 - done - i, loaded[i]);
    }
}

__device__ inline void store(const LineStates& states, int component, int block, const Vector3& s) {
#pragma unroll
    for (int c = 0; c < 3; ++c)
        *states.at(component + c, block) = static_cast<float>(s.v[c]);
}

__device__ inline const Matrix3& power_of(const LineFilter& filter, int block) {
    return filter.power[block + 1 == filter.blocks ? 1 : 0];
}

/// The forward state before the line.
__device__ inline Vector3 before_line(const LineStates& states, const LineFilter& filter, float first) {
    if (filter.border == Border::replicate)
        return {{static_cast<double>(first), 0, 0}};
    if (filter.border != Border::reflect && filter.border != Border::wrap)
        return {{0, 0, 0}};
    Vector3 period{};
    each_block<1, kForwardState>(states, [&](int block, const State(&s)[1]) {
        period = power_of(filter, block) * period + wide(s[0]);
    });
    if (filter.border == Border::reflect) {
        Vector3 back{};
        each_block<-1, kMirroredState>(states, [&](int block, const State(&s)[1]) {
            back = power_of(filter, block) * back + wide(s[0]);
        });
        period = filter.line * period + back;
    }
    return filter.begin * period;
}

/// The backward state after the line, from the forward state there.
__device__ inline Vector3 after_line(const LineStates& states, const LineFilter& filter, Vector3 forward,
                                     float last) {
    if (filter.border == Border::wrap) {
        Vector3 period{};
        each_block<-1, kForwardState, kBackwardState>(states, [&](int block, const State(&s)[2]) {
            period = power_of(filter, block) * period + wide(s[1]) +
                     filter.through[block + 1 == filter.blocks ? 1 : 0] * wide(s[0]);
        });
        return filter.turn * period;
    }
    const double end = filter.border == Border::replicate ? static_cast<double>(last) : 0.0;
    forward.v[0] -= end;
    Vector3 backward = filter.turn * forward;
    backward.v[0] += end;
    return backward;
}

template <class T> __global__ void __launch_bounds__(kThreads)
    scan_kernel(const __grid_constant__ ScanArgs args, const __grid_constant__ LineFilter filter) {
    const int line = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
    if (line >= args.lines)
        return;
    const LineStates states{args.states + line, args.lines, filter.blocks};
    const std::int64_t at =
        static_cast<std::int64_t>(line % args.group) * args.step + line / args.group;
    const auto first = static_cast<float>(static_cast<const T*>(args.first)[at]);
    const auto last = static_cast<float>(static_cast<const T*>(args.last)[at]);

    Vector3 forward = before_line(states, filter, first);
    each_block<1, kForwardState>(states, [&](int block, const State(&s)[1]) {
        store(states, kForwardState, block, forward);
        forward = power_of(filter, block) * forward + wide(s[0]);
    });
    Vector3 backward = after_line(states, filter, forward, last);
    each_block<-1, kForwardState, kBackwardState>(states, [&](int block, const State(&s)[2]) {
        store(states, kBackwardState, block, backward);
        backward = power_of(filter, block) * backward + wide(s[1]) +
                   filter.through[block + 1 == filter.blocks ? 1 : 0] * wide(s[0]);
    });
}

} // namespace

void launch_scan(const ScanArgs& args, const LineFilter& filter, PixelType type, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>((args.lines + kThreads - 1) / kThreads);
    dispatch(type, [&](auto zero) {
        scan_kernel<decltype(zero)><<<blocks, kThreads, 0, stream>>>(args, filter);
    });
    check_launch("the scan of stage gaussian");
}

} // namespace specklescope::cuda
