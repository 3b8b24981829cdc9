// From what each block of a line adds to the states between the blocks, in float64. A warp has one segment of
// 32 lines: it first finds what the whole segment adds, then, knowing that of all others, its states.
#include "cuda/device.hpp"
#include "cuda/gaussian_recursive.cuh"
#include "cuda/gaussian_scan.hpp"

namespace specklescope::cuda {

namespace {

constexpr int kLines = 32;
constexpr int kThreads = kLines * kLineSegments;
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

/// The part of a line that a thread works on, and what all parts of it add.
struct Segment {
    LineStates states;
    int index;      ///< in the line
    int begin, end; ///< blocks
    bool stores;    ///< the line exists
    Vector3 (&totals)[kLineSegments][kLines];
};

/// Goes through the blocks of the segment, from the first (Step = 1) or the last (Step = −1), and calls
/// f(block, states…) with the states of each of `Components`, loaded some blocks ahead.
template <int Step, int... Components, class F> __device__ inline void each_block(const Segment& s, F&& f) {
#pragma unroll 1
    for (int done = 0; done < s.end - s.begin; done += kBatch) {
        const int first = Step > 0 ? s.begin + done : s.end - 1 - done;
        State loaded[kBatch][sizeof...(Components)];
#pragma unroll
        for (int i = 0; i < kBatch; ++i) {
            const int block = min(max(first + Step * i, s.begin), s.end - 1);
            int n = 0;
            ((loaded[i][n++] = s.states.load(Components, block)), ...);
        }
#pragma unroll
        for (int i = 0; i < kBatch; ++i)
            if (done + i < s.end - s.begin)
                f(first + Step * i, loaded[i]);
    }
}

/// What the filter does to a state on its way through blocks.
class Blocks {
public:
    __device__ explicit Blocks(const LineFilter& filter)
        : filter_(filter), power_(filter.power[0]), through_(filter.through[0]) {}

    __device__ Vector3 forward(int block, const Vector3& s, const State& added) const {
        return (last(block) ? filter_.power[1] * s : power_ * s) + wide(added);
    }
    __device__ Vector3 backward(int block, const Vector3& s, const State (&states)[2]) const {
        const Vector3 before = wide(states[0]);
        return forward(block, s, states[1]) + (last(block) ? filter_.through[1] * before : through_ * before);
    }

private:
    __device__ bool last(int block) const { return block + 1 == filter_.blocks; }

    const LineFilter& filter_;
    Matrix3 power_, through_; ///< of whole blocks, in registers
};

/// Puts what the thread's segment adds where all can see it.
__device__ inline void share(const Segment& s, const Vector3& total) {
    __syncthreads(); // nobody still reads the last ones
    s.totals[s.index][threadIdx.x % kLines] = total;
    __syncthreads();
}

/// From the state at one end of the line to that at the other, through all segments; `here` is set to the
/// state where the thread's own begins.
template <int Step> __device__ inline Vector3 through_line(const Segment& s, const LineFilter& filter,
                                                           Vector3 state, Vector3& here) {
#pragma unroll 1
    for (int i = 0; i < filter.segments; ++i) {
        const int segment = Step > 0 ? i : filter.segments - 1 - i;
        if (segment == s.index)
            here = state;
        state = filter.segment[segment + 1 == filter.segments ? 1 : 0] * state +
                s.totals[segment][threadIdx.x % kLines];
    }
    return state;
}

__device__ inline void store(const Segment& s, int component, int block, const Vector3& state) {
    if (!s.stores)
        return;
#pragma unroll
    for (int c = 0; c < 3; ++c)
        *s.states.at(component + c, block) = static_cast<float>(state.v[c]);
}

/// The forward state before the line; leaves what the segments add to it in `totals`.
__device__ inline Vector3 before_line(const Segment& s, const LineFilter& filter, const Blocks& blocks,
                                      float first) {
    Vector3 unused{};
    Vector3 back{};
    if (filter.border == Border::reflect) {
        Vector3 total{};
        each_block<-1, kMirroredState>(
            s, [&](int block, const State(&states)[1]) { total = blocks.forward(block, total, states[0]); });
        share(s, total);
        back = through_line<-1>(s, filter, {}, unused);
    }
    Vector3 total{};
    each_block<1, kForwardState>(
        s, [&](int block, const State(&states)[1]) { total = blocks.forward(block, total, states[0]); });
    share(s, total);
    if (filter.border == Border::replicate)
        return {{static_cast<double>(first), 0, 0}};
    if (filter.border == Border::zero)
        return {};
    const Vector3 period = through_line<1>(s, filter, {}, unused);
    return filter.begin * (filter.border == Border::reflect ? filter.line * period + back : period);
}

/// The backward state after the line, from the forward state there and what the segments add to it.
__device__ inline Vector3 after_line(const Segment& s, const LineFilter& filter, Vector3 forward,
                                     float last) {
    if (filter.border == Border::wrap) {
        Vector3 unused{};
        return filter.turn * through_line<-1>(s, filter, {}, unused);
    }
    const double end = filter.border == Border::replicate ? static_cast<double>(last) : 0.0;
    forward.v[0] -= end;
    Vector3 backward = filter.turn * forward;
    backward.v[0] += end;
    return backward;
}

template <class T> __global__ void __launch_bounds__(kThreads)
    scan_kernel(const __grid_constant__ ScanArgs args, const __grid_constant__ LineFilter filter) {
    __shared__ Vector3 totals[kLineSegments][kLines];
    const int wanted = static_cast<int>(blockIdx.x) * kLines + static_cast<int>(threadIdx.x % kLines);
    const int line = min(wanted, args.lines - 1);
    const int index = static_cast<int>(threadIdx.x) / kLines;
    const int begin = min(index * filter.segment_blocks, filter.blocks);
    const Segment s{{args.states + line, args.lines, filter.blocks},
                    index,
                    begin,
                    min(begin + filter.segment_blocks, filter.blocks),
                    wanted < args.lines,
                    totals};
    const std::int64_t at = static_cast<std::int64_t>(line % args.group) * args.step + line / args.group;
    const auto first = static_cast<float>(static_cast<const T*>(args.first)[at]);
    const auto last = static_cast<float>(static_cast<const T*>(args.last)[at]);

    const Blocks blocks(filter);
    Vector3 forward{};
    const Vector3 end = through_line<1>(s, filter, before_line(s, filter, blocks, first), forward);
    each_block<1, kForwardState>(s, [&](int block, const State(&states)[1]) {
        store(s, kForwardState, block, forward);
        forward = blocks.forward(block, forward, states[0]);
    });

    Vector3 total{};
    each_block<-1, kForwardState, kBackwardState>(
        s, [&](int block, const State(&states)[2]) { total = blocks.backward(block, total, states); });
    share(s, total);
    Vector3 backward{};
    through_line<-1>(s, filter, after_line(s, filter, end, last), backward);
    each_block<-1, kForwardState, kBackwardState>(s, [&](int block, const State(&states)[2]) {
        store(s, kBackwardState, block, backward);
        backward = blocks.backward(block, backward, states);
    });
}

} // namespace

void launch_scan(const ScanArgs& args, const LineFilter& filter, PixelType type, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>((args.lines + kLines - 1) / kLines);
    dispatch(type,
             [&](auto zero) { scan_kernel<decltype(zero)><<<blocks, kThreads, 0, stream>>>(args, filter); });
    check_launch("the scan of stage gaussian");
}

} // namespace specklescope::cuda
