// States between the blocks of a line from the blocks' contributions, in float64. A thread has one segment of
// a line: it first computes the contribution of the segment, then, with those of the other segments, its
// states.
#include "cuda/gaussian/gaussian_recursive.cuh"

namespace specklescope::cuda {

namespace {

constexpr int kLines = 8; ///< per thread block: as wide as a memory sector
constexpr int kThreads = kLines * kLineSegments;

struct Vector3 {
    double v[3];
};

__device__ inline Vector3 multiply_add(const Matrix3& a, const Vector3& b, const Vector3& sum) {
    Vector3 result;
#pragma unroll
    for (int i = 0; i < 3; ++i)
        result.v[i] = fma(a.m[i][0], b.v[0], fma(a.m[i][1], b.v[1], fma(a.m[i][2], b.v[2], sum.v[i])));
    return result;
}
__device__ inline Vector3 operator*(const Matrix3& a, const Vector3& b) { return multiply_add(a, b, {}); }
__device__ inline Vector3 wide(const State& s) {
    return {{static_cast<double>(s.w), static_cast<double>(s.d), static_cast<double>(s.e)}};
}
__device__ inline State narrow(const Vector3& s) {
    return {static_cast<float>(s.v[0]), static_cast<float>(s.v[1]), static_cast<float>(s.v[2])};
}

/// Part of a line for one thread, kHeld blocks at a time, with their states in registers.
template <int kHeld> struct Segment {
    LineStates states;
    int begin, end; ///< blocks
    bool stores;    ///< the line exists
    bool whole;     ///< a segment fits into one pass of kHeld blocks
    State forward[kHeld], backward[kHeld];

    __device__ void hold(int first) {
#pragma unroll
        for (int i = 0; i < kHeld; ++i)
            if (first + i < end) {
                forward[i] = states.load(kForwardState, first + i);
                backward[i] = states.load(kBackwardState, first + i);
            }
    }
    /// Calls f(block, forward, backward) for all, from the first (Step = 1) or the last (Step = −1).
    template <int Step, class F> __device__ void each_block(F&& f) {
        const int parts = (end - begin + kHeld - 1) / kHeld;
#pragma unroll 1
        for (int part = 0; part < parts; ++part) {
            const int first = begin + (Step > 0 ? part : parts - 1 - part) * kHeld;
            if (!whole)
                hold(first);
#pragma unroll
            for (int j = 0; j < kHeld; ++j) {
                const int i = Step > 0 ? j : kHeld - 1 - j;
                if (first + i < end)
                    f(first + i, forward[i], backward[i]);
            }
        }
    }
    __device__ void store(int component, int block, const State& state) const {
        if (stores)
            states.store(component, block, state);
    }
};

struct Memory {
    Vector3 steps[2][kLineSegments][kLines];
    Vector3 after[kLineSegments][kLines];
};

/// Combines the segments of a line in log₂ steps (Hillis, Steele 1986).
struct Segments {
    const LineScan& scan;
    Memory& memory;
    int index; ///< of the thread's
    int line;  ///< in `memory`

    /// Call on all threads. `added`: contribution of the thread's segment to a state.
    __device__ void forward(const Vector3& begin, const Vector3& added) const {
        combine<1>(index == 0 ? multiply_add(scan.first_segment, begin, added) : added);
    }
    __device__ void backward(const Vector3& end, const Vector3& added) const {
        const Matrix3& own = index == 0 ? scan.first_segment : scan.segment[0];
        combine<-1>(index == scan.segments - 1 ? multiply_add(own, end, added) : added);
    }
    /// After forward(begin, …): state at the start of the thread's segment, and after the last.
    __device__ Vector3 before_own(const Vector3& begin) const {
        return index == 0 ? begin : memory.after[index - 1][line];
    }
    __device__ Vector3 behind_all(const Vector3& begin) const {
        return scan.segments == 0 ? begin : memory.after[scan.segments - 1][line];
    }
    /// After backward(end, …): state after the thread's segment, and before the first.
    __device__ Vector3 behind_own(const Vector3& end) const {
        return index + 1 < scan.segments ? memory.after[index + 1][line] : end;
    }
    __device__ Vector3 before_all(const Vector3& end) const {
        if (scan.segments == 0)
            return end;
        const Vector3 first = memory.after[0][line];
        return scan.segments == 1 ? first : multiply_add(scan.first_segment, memory.after[1][line], first);
    }

private:
    template <int Step> __device__ void combine(Vector3 x) const {
        // Backward, only before_all() uses the sum of the first segment, which may be shorter.
        const bool alone = Step < 0 && index == 0;
#pragma unroll
        for (int n = 0; n < kSegmentPowers; ++n) {
            memory.steps[n % 2][index][line] = x;
            __syncthreads();
            const int other = index - Step * (1 << n);
            if (other >= 0 && other < scan.segments && !alone)
                x = multiply_add(scan.segment[n], memory.steps[n % 2][other][line], x);
        }
        memory.after[index][line] = x;
        __syncthreads();
    }
};

/// Properties of a line before its states are combined.
template <int kHeld> struct Line {
    Segment<kHeld>& segment;
    Segments together;
    State last_forward, last_backward; ///< contribution of the last block
    Vector3 forward;                   ///< contribution of the thread's segment
    float first, last;                 ///< samples

    /// The forward state before the line.
    __device__ Vector3 begin() const {
        const LineScan& scan = together.scan;
        if (scan.border == Border::replicate)
            return {{static_cast<double>(first), 0, 0}};
        if (scan.border == Border::zero)
            return {};
        together.forward({}, forward);
        const Vector3 period = multiply_add(scan.power[1], together.behind_all({}), wide(last_forward));
        return scan.begin *
               (scan.border == Border::reflect ? multiply_add(scan.line, period, mirrored()) : period);
    }
    /// The backward state after the line; `before`: the forward state before its last block.
    __device__ Vector3 end(const Vector3& before, const Vector3& backward) const {
        const LineScan& scan = together.scan;
        if (scan.border == Border::wrap) {
            const Vector3 none{};
            const Vector3 behind = behind_segments(before, none);
            together.backward(behind, backward);
            return scan.backward_start * together.before_all(behind);
        }
        const double sample = scan.border == Border::replicate ? static_cast<double>(last) : 0.0;
        Vector3 started = multiply_add(scan.power[1], before, wide(last_forward));
        started.v[0] -= sample;
        return multiply_add(scan.backward_start, started, {{sample, 0, 0}});
    }
    /// The backward state between the segments and the last block.
    __device__ Vector3 behind_segments(const Vector3& before, const Vector3& end) const {
        const LineScan& scan = together.scan;
        return multiply_add(scan.through[1], wide(narrow(before)),
                            multiply_add(scan.power[1], end, wide(last_backward)));
    }

private:
    /// The forward state after the line, read backward from 0.
    __device__ Vector3 mirrored() const {
        const LineScan& scan = together.scan;
        Vector3 added{};
        for (int block = segment.end - 1; block >= segment.begin; --block)
            added = multiply_add(scan.power[0], added, wide(segment.states.load(kMirroredState, block)));
        const Vector3 last = wide(segment.states.load(kMirroredState, scan.blocks - 1));
        together.backward(last, added);
        return together.before_all(last);
    }
};

/// Blocks per multiprocessor: enough for all lines of a 4K image at once, with a few registers spilled.
constexpr int blocks_at_once(int held) { return held <= 3 ? 4 : held <= 4 ? 3 : 2; }

/// Returns whether samples are missing.
template <class T, Plane kPlane, int kHeld>
__device__ __forceinline__ bool scan_lines(const ScanArgs& args, const LineScan& scan, Memory& memory) {
    constexpr bool kMask = kPlane == Plane::mask;
    const int wanted = static_cast<int>(blockIdx.x) * kLines + static_cast<int>(threadIdx.x % kLines);
    const int at = min(wanted, args.lines - 1);
    const int index = static_cast<int>(threadIdx.x) / kLines;
    const LineStates states{args.states + (kMask ? args.plane : 0) + at, args.lines,
                            state_components(scan.border)};
    Segment<kHeld> segment{states, scan.segment_begin(index), scan.segment_begin(index + 1),
                           wanted < args.lines, scan.segment_blocks <= kHeld};
    wait_for_previous();
    let_next_begin(); // not earlier: the next kernel may read results of kernels before the previous one
    const Missing missing(args.missing);
    const auto end_of_line = [&](const void* samples) {
        if (args.filtered)
            return static_cast<const float*>(samples)[(kMask ? args.plane : 0) + at];
        float sample[1] = {static_cast<float>(static_cast<const T*>(samples)[at])};
        missing.replace<T, kPlane>(args.missing.norm, sample);
        return sample[0];
    };
    if (segment.whole)
        segment.hold(segment.begin);
    const int last_block = scan.blocks - 1;
    Line<kHeld> line{segment,
                     {scan, memory, index, static_cast<int>(threadIdx.x % kLines)},
                     states.load(kForwardState, last_block),
                     states.load(kBackwardState, last_block),
                     {},
                     end_of_line(args.first),
                     end_of_line(args.last)};

    segment.each_block<1>([&](int, const State& added, const State&) {
        line.forward = multiply_add(scan.power[0], line.forward, wide(added));
    });
    const Vector3 begin = line.begin();
    line.together.forward(begin, line.forward);
    Vector3 state = line.together.before_own(begin);
    segment.each_block<1>([&](int block, State& forward, const State&) {
        const Vector3 next = multiply_add(scan.power[0], state, wide(forward));
        forward = narrow(state);
        segment.store(kForwardState, block, forward);
        state = next;
    });
    const Vector3 before = line.together.behind_all(begin);

    const auto back = [&](const Vector3& from, const State& forward, const State& added) {
        return multiply_add(scan.power[0], from, multiply_add(scan.through[0], wide(forward), wide(added)));
    };
    Vector3 backward{};
    segment.each_block<-1>(
        [&](int, const State& forward, const State& added) { backward = back(backward, forward, added); });
    const Vector3 end = line.end(before, backward);
    const Vector3 behind = line.behind_segments(before, end);
    line.together.backward(behind, backward);
    state = line.together.behind_own(behind);
    segment.each_block<-1>([&](int block, const State& forward, const State& added) {
        segment.store(kBackwardState, block, narrow(state));
        state = back(state, forward, added);
    });
    if (index == 0) {
        segment.store(kForwardState, last_block, narrow(before));
        segment.store(kBackwardState, last_block, narrow(end));
    }
    return missing.any;
}

template <class T, int kHeld>
__global__ void __launch_bounds__(kThreads, blocks_held(kThreads, blocks_at_once(kHeld)))
    scan_kernel(const __grid_constant__ ScanArgs args, const __grid_constant__ LineScan scan) {
    __shared__ Memory memory;
    const bool missing = scan_lines<T, Plane::values, kHeld>(args, scan, memory);
    if constexpr (std::is_same_v<T, float>)
        if (missing) {
            __syncthreads();
            scan_lines<T, Plane::mask, kHeld>(args, scan, memory);
        }
}

} // namespace

void launch_scan(const ScanArgs& args, const LineScan& scan, PixelType type, const Sequence& sequence) {
    const auto blocks = static_cast<unsigned>((args.lines + kLines - 1) / kLines);
    dispatch(type, [&](auto zero) {
        using T = decltype(zero);
        const auto kernel = scan.segment_blocks <= 3   ? scan_kernel<T, 3>
                            : scan.segment_blocks <= 4 ? scan_kernel<T, 4>
                                                       : scan_kernel<T, 8>;
        sequence.next("the scan of stage gaussian", {dim3(blocks), kThreads}, kernel, args, scan);
    });
}

} // namespace specklescope::cuda
