// Convolution by transforms on the host, for every stage that has a kernel too large to do otherwise.
#pragma once

#include "stages/convolve/convolution_geometry.hpp"
#include "stages/convolve/convolve_kernel.hpp"
#include "stages/convolve/simd/convolve_rows.hpp"

#include <hwy/aligned_allocator.h>

#include <memory>
#include <string>
#include <vector>

struct fftwf_plan_s;

namespace specklescope {

/// Real rows → spectra of rows → strips of columns, each transformed, multiplied and transformed back while
/// it is in the cache → rows. Border rows are not transformed: they have the spectrum of the row they repeat.
/// Everything is in float32: an error of about 1e-6 of the largest sample in the tile, whatever the size of
/// the sample beside it. A NaN or infinity of the image reaches every pixel of its tile: see FilterNorm.
class HostConvolution {
public:
    /// Plans, transforms the kernel, allocates within the budget. Throws as plan_convolution() if that is too
    /// little, RunError if there is no room after all.
    HostConvolution(const Shape& image, const ConvolveKernel& kernel, Border border,
                    const ConvolutionBudget& budget);

    /// Type and channels of the image; its size but for crop.
    Shape output() const;
    const ConvolutionGeometry& geometry() const { return geometry_; }
    std::string note() const { return to_string(geometry_, memory_) + planning_; }
    /// Every result is multiplied by across[x]·down[y] before it is rounded (border = omit).
    void set_gains(std::vector<float> across, std::vector<float> down);

    void run(ConstHostView input, HostView output);

private:
    struct DestroyPlan {
        void operator()(fftwf_plan_s* plan) const noexcept;
    };
    using Plan = std::unique_ptr<fftwf_plan_s, DestroyPlan>;
    using Floats = hwy::AlignedFreeUniquePtr<float[]>;
    /// What one slot of run_bands needs.
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
    std::string planning_; ///< how plans were found, for note()
    int strips_ = 0;
    int row_count_ = 0;      ///< rows that rows_ holds
    std::size_t stride_ = 0; ///< floats from one to the next
    Floats rows_;            ///< spectra of rows
    Floats spectrum_;        ///< of the kernel: channel, strip, half strip, row, column
    std::vector<Slot> slots_;
    std::vector<TileRows> tile_rows_;
    std::vector<std::vector<int>> tile_columns_; ///< source of each position of a row; −1: zero
    std::vector<float> gain_across_, gain_down_;
    Plan row_forward_, row_backward_, column_forward_, column_backward_;
};

} // namespace specklescope
