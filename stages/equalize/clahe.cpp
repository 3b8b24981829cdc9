// Contrast-limited adaptive histogram equalisation on the host: tiles in parallel, then the cells between
// their centres.
#include "stages/equalize/clahe.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "stages/equalize/equalize.hpp"
#include "stages/equalize/simd/clahe_rows.hpp"
#include "stages/maker.hpp"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace specklescope {

namespace {

const ParamTable& clahe_table() {
    static const ParamTable table =
        Declare<ClaheParams>("stage clahe")
            .integer("tiles", &ClaheParams::tiles,
                     {.min = 1, .max = 64, .cost = Cost::rebuild, .doc = "Number of tiles per axis"})
            .real(
                "clip", &ClaheParams::clip,
                {.label = "Clip limit",
                 .min = 0,
                 .max = 100,
                 .doc =
                     "Clip limit of a histogram bin, in mean bin heights (OpenCV's clipLimit). 0: no limit"})
            .integer("bins", &ClaheParams::bins,
                     {.min = 2,
                      .max = ClaheParams::kMaxBins,
                      .logarithmic = true,
                      .cost = Cost::rebuild,
                      .doc = "Number of histogram bins, at most one per level of an integer image"})
            .table();
    return table;
}

Quantity clahe_quantity(const Params&, const Quantity& input) { return equalized_quantity(input); }

} // namespace

ClaheTiling clahe_tiling(const ClaheParams& params, const Shape& input) {
    const int tiles = params.tiles;
    const int right = input.width % tiles;
    const int below = input.height % tiles;
    const bool divides = right == 0 && below == 0;
    const ClaheTiling tiling{tiles, (input.width + (divides ? 0 : tiles - right)) / tiles,
                             (input.height + (divides ? 0 : tiles - below)) / tiles};
    if (static_cast<std::int64_t>(tiling.width) * tiling.height > std::numeric_limits<int>::max())
        throw UsageError("stage clahe: tiles of " + std::to_string(tiling.width) + "×" +
                         std::to_string(tiling.height) +
                         " pixels are too large; allowed: fewer than 2³¹ pixels, take more tiles.");
    return tiling;
}

std::vector<int> clahe_cells(int pixels, int tile_side, int tiles) {
    const float tiles_per_pixel = 1.0F / static_cast<float>(tile_side);
    std::vector<int> cells(static_cast<std::size_t>(tiles) + 2, pixels);
    int next = 0;
    for (int i = 0; i < pixels; ++i) {
        const int cell = static_cast<int>(std::floor(clahe_position(i, tiles_per_pixel))) + 1;
        for (; next <= cell; ++next)
            cells[static_cast<std::size_t>(next)] = i;
    }
    return cells;
}

int clahe_full_scale(PixelType type, const FrameInfo& info) {
    const double most = type_full_scale(type);
    const double full = info.full_scale > 0 ? std::min(info.full_scale, most) : most;
    return std::max(1, static_cast<int>(full));
}

int clahe_clip_limit(double clip, int area, int bins) {
    return clip > 0 ? std::max(1, static_cast<int>(std::min(clip * area / bins, 2e9))) : 0;
}

namespace {

/// Weights of the right or lower tile for every pixel of an axis.
std::vector<float> axis_weights(int pixels, int tile_side) {
    const float tiles_per_pixel = 1.0F / static_cast<float>(tile_side);
    std::vector<float> weights(static_cast<std::size_t>(pixels));
    for (int i = 0; i < pixels; ++i) {
        const float position = clahe_position(i, tiles_per_pixel);
        weights[static_cast<std::size_t>(i)] = position - std::floor(position);
    }
    return weights;
}

hwy::AlignedFreeUniquePtr<std::byte[]> room(std::size_t bytes) {
    auto memory = hwy::AllocateAligned<std::byte>(bytes);
    if (!memory)
        throw UsageError("stage clahe: no room for " + std::to_string(bytes >> 10) +
                         " KiB of mappings; use fewer tiles or bins.");
    return memory;
}

class ClaheHost final : public HostStage {
public:
    explicit ClaheHost(const Params& params) : params_(params.as<ClaheParams>()) {}
    void set_params(const Params& params) override { params_ = params.as<ClaheParams>(); }

    Shape prepare(const Shape& input) override {
        tiling_ = clahe_tiling(params_, input);
        columns_ = clahe_cells(input.width, tiling_.width, tiling_.tiles);
        rows_ = clahe_cells(input.height, tiling_.height, tiling_.tiles);
        right_ = axis_weights(input.width, tiling_.width);
        below_ = axis_weights(input.height, tiling_.height);
        mapping_bytes_ = static_cast<std::size_t>(params_.bins) * pixel_bytes(input.type);
        mappings_ = room(mapping_bytes_ * static_cast<std::size_t>(tiling_.tiles * tiling_.tiles));
        scratch_.clear();
        for (int slot = 0; slot < parallel_threads(); ++slot)
            scratch_.push_back(room(clahe_scratch_bytes(input, params_.bins)));
        ranges_.resize(scratch_.size());
        return input;
    }

    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        const ClaheLevels levels = levels_of(input, context.info);
        const int slots = static_cast<int>(scratch_.size());
        const int tiles = tiling_.tiles;
        const int limit = clahe_clip_limit(params_.clip, tiling_.area(), levels.bins);
        run_bands(tiles * tiles, slots, [&](int tile, int slot) {
            const int x = tile % tiles * tiling_.width;
            const int y = tile / tiles * tiling_.height;
            clahe_map_tile(input, {x, x + tiling_.width, y, y + tiling_.height}, levels, limit,
                           mapping(tile % tiles, tile / tiles),
                           scratch_[static_cast<std::size_t>(slot)].get());
        });
        const int across = tiles + 1;
        const int parts = std::max(1, 8 * slots / (across * across)); // of a cell, if there are few cells
        run_bands(across * across * parts, slots, [&](int item, int slot) {
            const int index = item / parts;
            map_part(input, output, index % across, index / across, {item % parts, parts}, levels,
                     scratch_[static_cast<std::size_t>(slot)].get());
        });
    }

private:
    struct Part {
        int index, count;
    };

    ClaheLevels levels_of(const ConstHostView& input, const FrameInfo& info) {
        if (input.shape.type != PixelType::f32)
            return clahe_integer_levels(clahe_full_scale(input.shape.type, info), params_.bins,
                                        tiling_.area());
        const int slots = static_cast<int>(ranges_.size());
        const int bands = band_count(input.shape.height, slots, 16);
        std::fill(ranges_.begin(), ranges_.end(), ClaheRange{});
        for_bands(input.shape.height, bands, slots, [&](Band rows, int slot) {
            const ClaheRange here = clahe_range(input, rows.begin, rows.end);
            ClaheRange& range = ranges_[static_cast<std::size_t>(slot)];
            range = {std::min(range.low, here.low), std::max(range.high, here.high)};
        });
        ClaheRange all;
        for (const ClaheRange& range : ranges_)
            all = {std::min(all.low, range.low), std::max(all.high, range.high)};
        return clahe_real_levels(all.low, all.high, params_.bins, tiling_.area());
    }

    std::byte* mapping(int x, int y) const {
        return mappings_.get() + static_cast<std::size_t>(y * tiling_.tiles + x) * mapping_bytes_;
    }

    void map_part(const ConstHostView& input, const HostView& output, int x, int y, Part part,
                  const ClaheLevels& levels, std::byte* scratch) const {
        const auto column = static_cast<std::size_t>(x);
        const auto row = static_cast<std::size_t>(y);
        const Band rows = band_rows(rows_[row + 1] - rows_[row], part.count, part.index);
        ClaheCell cell;
        cell.input = input;
        cell.output = output;
        cell.area = {columns_[column], columns_[column + 1], rows_[row] + rows.begin, rows_[row] + rows.end};
        if (cell.area.x0 == cell.area.x1 || cell.area.y0 == cell.area.y1)
            return;
        const int last = tiling_.tiles - 1;
        for (int k = 0; k < 4; ++k)
            cell.mappings[k] =
                mapping(std::clamp(x - 1 + k % 2, 0, last), std::clamp(y - 1 + k / 2, 0, last));
        cell.right = right_.data();
        cell.below = below_.data();
        clahe_map_cell(cell, levels, scratch);
    }

    ClaheParams params_;
    ClaheTiling tiling_;
    std::vector<int> columns_, rows_; ///< cells
    std::vector<float> right_, below_;
    std::size_t mapping_bytes_ = 0; ///< of a tile
    hwy::AlignedFreeUniquePtr<std::byte[]> mappings_;
    std::vector<hwy::AlignedFreeUniquePtr<std::byte[]>> scratch_; ///< by slot
    std::vector<ClaheRange> ranges_;                              ///< by slot
};

} // namespace

StageType clahe_stage() {
    return {.name = "clahe",
            .doc = "Contrast-limited adaptive histogram equalisation over tiles (Zuiderveld 1994)",
            .title = "CLAHE",
            .group = StageGroup::brightness,
            .table = &clahe_table(),
            .tolerance = 0,
            .quantity = clahe_quantity,
            .make_host = host_maker<ClaheHost>,
            .make_device = device_maker<make_clahe_device>,
            .science = "Equalisation"};
}

} // namespace specklescope
