// Gaussian blur by separable taps on the host: bands of rows in parallel, with slabs that stay in the cache.
#include "base/parallel.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "stages/gaussian/gaussian_slab.hpp"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {

class GaussianDirectHost final : public HostStage {
public:
    explicit GaussianDirectHost(const GaussianParams& params) : params_(params) {}

    void set_params(const Params&) override {}

    Shape prepare(const Shape& input) override {
        const Shape output = gaussian_shape(params_, input);
        const std::vector<double> taps = gaussian_taps(params_);
        taps_.assign(taps.begin(), taps.end());
        slab_.border = params_.border;
        slab_.radius = gaussian_radius(params_);
        slab_.taps = taps_.data();
        choose_integers(input.type, taps);
        if (params_.border == Border::omit) {
            row_scale_ = gaussian_scale(gaussian_tap_norms(taps, input.height), 1);
            column_scale_ = gaussian_scale(gaussian_tap_norms(taps, input.width), input.channels);
            slab_.row_scale = row_scale_.data();
            slab_.column_scale = column_scale_.data();
        }
        scratch_.resize(static_cast<std::size_t>(parallel_threads()));
        const std::size_t bytes = gaussian_slab_bytes(input, slab_.radius);
        for (auto& scratch : scratch_) {
            scratch = hwy::AllocateAligned<std::byte>(bytes);
            if (!scratch)
                throw RunError("stage gaussian: no room for " + std::to_string(bytes >> 10) +
                               " KiB of rows; use a smaller image.");
            std::fill_n(scratch.get(), bytes, std::byte{0});
        }
        bands_ = band_count(output.height, static_cast<int>(scratch_.size()), kGaussianSlabRows);
        return output;
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>&) override {
        GaussianSlab slab = slab_;
        slab.input = input;
        slab.output = output;
        for_bands(output.shape.height, bands_, static_cast<int>(scratch_.size()), [&](Band rows, int slot) {
            for (int y = rows.begin; y < rows.end; y += kGaussianSlabRows)
                run_gaussian_slab(slab, y, std::min(rows.end, y + kGaussianSlabRows),
                                  scratch_[static_cast<std::size_t>(slot)].get());
        });
    }

private:
    void choose_integers(PixelType type, const std::vector<double>& taps) {
        if (type != PixelType::u8 || params_.border == Border::omit)
            return;
        slab_.binomial = params_.method == GaussianParams::Method::binomial3 ||
                         params_.method == GaussianParams::Method::binomial5;
        if (slab_.binomial || slab_.radius > kGaussianFixedRadius)
            return;
        fixed_ = gaussian_fixed_taps(taps);
        slab_.fixed = fixed_.data();
    }

    GaussianParams params_;
    GaussianSlab slab_;
    std::vector<float> taps_, row_scale_, column_scale_;
    std::vector<std::int16_t> fixed_;
    std::vector<hwy::AlignedFreeUniquePtr<std::byte[]>> scratch_;
    int bands_ = 1;
};

} // namespace

std::vector<std::int16_t> gaussian_fixed_taps(const std::vector<double>& taps) {
    constexpr int kOne = 1 << 15;
    int middle = kOne;
    std::vector<std::int16_t> fixed(1);
    for (std::size_t i = taps.size() / 2 + 1; i < taps.size(); ++i) {
        fixed.push_back(static_cast<std::int16_t>(std::lround(taps[i] * kOne)));
        middle -= 2 * fixed.back();
    }
    fixed[0] = static_cast<std::int16_t>(std::min(middle, kOne - 1));
    return fixed;
}

std::unique_ptr<HostStage> make_gaussian_direct_host(const GaussianParams& params) {
    return std::make_unique<GaussianDirectHost>(params);
}

} // namespace specklescope
