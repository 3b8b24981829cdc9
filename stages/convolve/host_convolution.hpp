// Convolution by transforms on the host, for all stages with large kernels.
#pragma once

#include "base/parallel.hpp"
#include "pipeline/image.hpp"
#include "stages/convolve/convolution_geometry.hpp"
#include "stages/convolve/convolve.hpp"

#include <hwy/aligned_allocator.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct fftwf_plan_s;

namespace specklescope {

/// Real rows → spectra of rows → strips of columns, each transformed, multiplied and transformed back while
/// cached → rows. Border rows are not transformed; they use the spectrum of the row they repeat. In float32:
/// an error of about 1e-6 of the largest sample in the tile, also for small samples next to it. NaN and
/// infinity spread over their tile: see FilterNorm.
class HostConvolution {
public:
    /// Plans, transforms the kernel and allocates within the budget. Throws like plan_convolution() if the
    /// budget is too small, RunError if an allocation fails.
    HostConvolution(const Shape& image, const ConvolveKernel& kernel, Border border,
                    const ConvolutionBudget& budget);

    /// Type and channels of the image, and its size except with crop.
    Shape output() const;
    const ConvolutionGeometry& geometry() const { return geometry_; }
    std::string note() const { return to_string(geometry_, memory_) + planning_; }
    /// Factors for every result before rounding: across[x]·down[y] (border = omit).
    void set_gains(std::vector<float> across, std::vector<float> down);

    void run(ConstHostView input, HostView output);

private:
    struct DestroyPlan {
        void operator()(fftwf_plan_s* plan) const noexcept;
    };
    using Plan = std::unique_ptr<fftwf_plan_s, DestroyPlan>;
    using Floats = hwy::AlignedFreeUniquePtr<float[]>;
    /// Scratch memory of one run_bands slot.
    struct Slot {
        Floats line;  ///< one row, real: x.fft
        Floats strip; ///< kStrip columns, complex: y.fft × kStrip
    };

    void allocate();
    void make_plans();
    void make_tables();
    void transform_kernel(const ConvolveKernel& kernel);
    void transform_rows(ConstHostView input, int tile_x, int tile_y, int channel);
    void transform_columns(int tile_y, int channel);
    void restore_rows(HostView output, int tile_x, int tile_y, int channel);
    void gather(const int* place, int strip, float* to) const;
    void scatter(const float* from, int strip, int first, int rows);
    void forward(float* strip) const;
    void backward(float* strip) const;
    float* row(int y) { return rows_.get() + static_cast<std::size_t>(y) * stride_; }
    const float* row(int y) const { return rows_.get() + static_cast<std::size_t>(y) * stride_; }
    std::size_t strip_floats() const;
    std::size_t kernel_floats() const; ///< of one channel

    Shape image_;
    int kernel_channels_ = 1;
    ConvolutionGeometry geometry_;
    std::size_t memory_ = 0;
    std::string planning_; ///< method of planning, for note()
    int strips_ = 0;
    int row_count_ = 0;      ///< capacity of rows_
    std::size_t stride_ = 0; ///< floats between two rows
    Floats rows_;            ///< spectra of rows
    Floats spectrum_;        ///< of the kernel: channel, strip, half strip, row, column
    std::vector<Slot> slots_;
    std::vector<TileRows> tile_rows_;
    std::vector<std::vector<int>> tile_columns_; ///< source of each position of a row; −1: zero
    std::vector<float> gain_across_, gain_down_;
    Plan row_forward_, row_backward_, column_forward_, column_backward_;
};

/// Channel `channel` of pixels [first, first + count) of a row, as float.
void load_samples(ConstHostView image, int y, int channel, Band pixels, float* to);

/// For each of `positions`: to[p] ← channel `channel` of pixel columns[p]; 0 if that is −1.
void pick_samples(ConstHostView image, int y, int channel, Band positions, const int* columns, float* to);

/// The inverse, rounded to nearest, ties to even, and clamped for integers, where NaN becomes 0. `gains` may
/// be null: factors of the samples besides `gain`.
struct SampleGains {
    const float* across = nullptr;
    float down = 1;
};
void store_samples(const float* from, HostView image, int y, int channel, Band pixels, SampleGains gains);

/// a[i] ← a[i]·b[i] over `count` complex numbers, real and imaginary parts interleaved; `count` is a multiple
/// of 16, both arrays are aligned to 64 bytes.
void multiply_complex(float* a, const float* b, std::size_t count);

} // namespace specklescope
