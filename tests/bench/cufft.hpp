// cuFFT, loaded on demand: a reference for our convolution, not used by the program.
#pragma once

#include "base/host_device.hpp"
#include "cuda/device.hpp"

#include <cufft.h>

#include <cstddef>
#include <utility>

namespace specklescope::cuda {

/// The functions used from the library.
struct Cufft {
    decltype(&cufftCreate) create = nullptr;
    decltype(&cufftDestroy) destroy = nullptr;
    decltype(&cufftSetAutoAllocation) set_auto_allocation = nullptr;
    decltype(&cufftMakePlanMany) make_plan_many = nullptr;
    decltype(&cufftSetWorkArea) set_work_area = nullptr;
    decltype(&cufftSetStream) set_stream = nullptr;
    decltype(&cufftExecR2C) exec_r2c = nullptr;
    decltype(&cufftExecC2R) exec_c2r = nullptr;
    decltype(&cufftExecC2C) exec_c2c = nullptr;
};

/// The library, loaded once per process: by its plain name, else from CUDA_PATH, CUDA_HOME or
/// /usr/local/cuda. Throws RunError with the package to install if there is none.
const Cufft& cufft();

/// Throws RunError naming the call and cuFFT's code.
void check(cufftResult status, const char* call);

/// Equal two-dimensional real transforms, consecutive. A real row of `width` samples uses the memory of its
/// width/2 + 1 complex ones (in place), so that there is space for two more if the width is even.
struct FftShape {
    int width = 0, height = 0; ///< samples
    int batch = 1;

    bool operator==(const FftShape&) const = default;
    SPECKLESCOPE_BOTH int columns() const { return width / 2 + 1; }    ///< complex samples in a row
    SPECKLESCOPE_BOTH int real_pitch() const { return 2 * columns(); } ///< real samples between rows
    /// Complex samples in one transform.
    SPECKLESCOPE_BOTH std::size_t plane() const {
        return static_cast<std::size_t>(columns()) * static_cast<std::size_t>(height);
    }
    /// Within the range of cuFFT's 32-bit interface.
    bool possible() const { return 2 * plane() * static_cast<std::size_t>(batch) < (std::size_t{1} << 31); }
    std::size_t bytes() const { return plane() * static_cast<std::size_t>(batch) * sizeof(float2); }
};

/// Plan of an in-place transform without its own workspace: the owner queries the size and provides it.
class FftPlan {
public:
    /// CUFFT_R2C (forward) or CUFFT_C2R (backward, not scaled).
    FftPlan(const FftShape& shape, cufftType type);
    FftPlan() = default;
    ~FftPlan();
    FftPlan(FftPlan&& other) noexcept
        : plan_(std::exchange(other.plan_, 0)), made_(std::exchange(other.made_, false)),
          work_bytes_(other.work_bytes_) {}
    FftPlan& operator=(FftPlan&& other) noexcept {
        std::swap(plan_, other.plan_);
        std::swap(made_, other.made_);
        std::swap(work_bytes_, other.work_bytes_);
        return *this;
    }

    explicit operator bool() const { return made_; }
    std::size_t work_bytes() const { return work_bytes_; }
    void set_work_area(void* memory) const;
    /// R2C: `data` contains real rows before, complex rows after; C2R the reverse.
    void forward(void* data, cudaStream_t stream) const;
    void backward(void* data, cudaStream_t stream) const;

private:
    cufftHandle plan_ = 0;
    bool made_ = false; ///< 0 is a handle like any other
    std::size_t work_bytes_ = 0;
};

} // namespace specklescope::cuda
