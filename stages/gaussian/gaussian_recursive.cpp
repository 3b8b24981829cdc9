// Recursive Gaussian on the host: strips of columns in parallel, then groups of rows.
#include "base/parallel.hpp"
#include "stages/gaussian/gaussian.hpp"
#include "stages/gaussian/gaussian_sweep.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

namespace specklescope {

namespace {

struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte[], Free>;

/// Zeroed memory, on large pages if available, since strips touch every page of an image repeatedly.
Memory allocate(std::size_t bytes) {
    constexpr std::size_t kPage = std::size_t{2} << 20;
    const std::size_t align = bytes < kPage ? 64 : kPage;
    bytes = (bytes + align - 1) / align * align;
    Memory memory(static_cast<std::byte*>(std::aligned_alloc(align, bytes)));
    if (!memory)
        throw RunError("stage gaussian: no room for " + std::to_string(bytes >> 20) +
                       " MiB between the passes; use a smaller image or method = direct.");
#ifdef MADV_HUGEPAGE
    if (align == kPage)
        madvise(memory.get(), bytes, MADV_HUGEPAGE);
#endif
    std::fill_n(memory.get(), bytes, std::byte{0});
    return memory;
}

class GaussianRecursiveHost final : public HostStage {
public:
    explicit GaussianRecursiveHost(const GaussianParams& params) : params_(params) {}

    void set_params(const Params&) override {}

    Shape prepare(const Shape& input) override {
        sweep_.filter = recursive_gaussian(params_.sigma);
        const Shape output = gaussian_shape(params_, input);
        sweep_.border = params_.border;
        sweep_.width = input.width;
        if (params_.border == Border::crop)
            sweep_.margin = gaussian_radius(params_);
        if (params_.border == Border::reflect || params_.border == Border::wrap)
            sweep_.warmup = sweep_.filter.reach;
        if (params_.border == Border::omit) {
            row_scale_ = gaussian_scale(gaussian_recursive_norms(sweep_.filter, input.height), 1);
            column_scale_ =
                gaussian_scale(gaussian_recursive_norms(sweep_.filter, input.width), input.channels);
            sweep_.row_scale = row_scale_.data();
            column_scale_.resize(column_scale_.size() + kGaussianStrip); // the last tile reads past the end
            sweep_.column_scale = column_scale_.data();
        }
        padded_shape_ = input;
        if (input.width * input.channels < kGaussianStrip) {
            padded_shape_.width = (kGaussianStrip + input.channels - 1) / input.channels;
            padded_ = allocate(padded_shape_.bytes());
        }
        between_ = allocate(gaussian_between_bytes(padded_shape_, output.height));
        sweep_.between = between_.get();
        scratch_.resize(static_cast<std::size_t>(parallel_threads()));
        for (Memory& scratch : scratch_)
            scratch = allocate(gaussian_sweep_bytes(padded_shape_, sweep_.warmup));
        return output;
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>&) override {
        GaussianSweep sweep = sweep_;
        sweep.input = padded_ ? pad(input) : input;
        sweep.output = output;
        const int slots = static_cast<int>(scratch_.size());
        const auto scratch = [&](int slot) {
            return reinterpret_cast<float*>(scratch_[static_cast<std::size_t>(slot)].get());
        };
        const int strips = gaussian_strips(sweep.input.shape.width * sweep.input.shape.channels);
        const int at_once = gaussian_strips_at_once(input.shape.type);
        run_bands((strips + at_once - 1) / at_once, slots,
                  [&](int block, int slot) { sweep_columns(sweep, block, scratch(slot)); });
        const int rows = gaussian_group_rows(input.shape.channels);
        run_bands((output.shape.height + rows - 1) / rows, slots,
                  [&](int group, int slot) { sweep_rows(sweep, group, scratch(slot)); });
    }

private:
    ConstHostView pad(ConstHostView input) {
        const HostView padded(padded_.get(), padded_shape_);
        for (int y = 0; y < input.shape.height; ++y)
            std::memcpy(padded.row(y), input.row(y), input.shape.row_bytes());
        return padded;
    }

    GaussianParams params_;
    GaussianSweep sweep_;
    std::vector<float> row_scale_, column_scale_;
    Shape padded_shape_; ///< at least one strip wide
    Memory padded_;      ///< the image, if narrower than a strip
    Memory between_;
    std::vector<Memory> scratch_;
};

} // namespace

std::unique_ptr<HostStage> make_gaussian_recursive_host(const GaussianParams& params) {
    return std::make_unique<GaussianRecursiveHost>(params);
}

} // namespace specklescope
