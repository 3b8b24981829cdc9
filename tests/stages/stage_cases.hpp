// Cases of the test over the registry: combinations of parameters, shapes and pixel types of a stage. Every
// choice, both ends of every range, every pair of values.
#pragma once

#include "pipeline/chain.hpp"
#include "pipeline/convert.hpp"
#include "tests/support/images.hpp"
#include "tests/support/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace specklescope::test {

struct StageCase {
    ChainStage stage;
    Shape shape;
    bool large = false;
    std::string name() const { return to_string(stage) + " on " + to_string(shape); }
};

/// One pixel, small, thin in both directions, and sizes that do not divide into vectors, tiles or warps.
inline const std::vector<std::pair<int, int>> kAwkward = {{17, 13}, {1, 1}, {64, 1}, {1, 64}, {131, 67}};
inline constexpr std::pair<int, int> kLarge{631, 479};

/// Pixel types and channels accepted by the stage, and one that needs a conversion.
inline std::vector<Shape> pixel_kinds(const StageType& type) {
    std::vector<Shape> kinds;
    for (const PixelType pixel : type.types)
        for (const int channels : type.channels)
            kinds.push_back({0, 0, channels, pixel});
    if (std::find(type.channels.begin(), type.channels.end(), 3) == type.channels.end())
        kinds.push_back({0, 0, 3, PixelType::u8});
    return kinds;
}

/// An end of a range that costs no more than a usual value: for many combinations.
inline double moderate_end(const ParamDecl& decl, double usual) {
    if (usual <= 0)
        return std::min(decl.max, 7.0);
    return decl.max / usual > 64 ? std::sqrt(usual * decl.max) : decl.max;
}

inline ParamValue number_value(const ParamDecl& decl, double value) {
    if (decl.kind == ParamKind::integer)
        return static_cast<std::int64_t>(std::llround(value));
    return value;
}

/// Values of a parameter in combinations; the default first.
inline std::vector<ParamValue> combined_values(const ParamDecl& decl, const Params& defaults) {
    const ParamValue usual = defaults.get(decl.name);
    std::vector<ParamValue> values{usual};
    const auto add = [&](const ParamValue& value) {
        if (std::find(values.begin(), values.end(), value) == values.end())
            values.push_back(value);
    };
    if (decl.kind == ParamKind::boolean) {
        add(!std::get<bool>(usual));
    } else if (decl.kind == ParamKind::choice) {
        for (const std::string& choice : decl.choices)
            add(choice);
    } else if (decl.kind == ParamKind::text && !decl.choices.empty()) { // several of them
        const unsigned all = (1U << decl.choices.size()) - 1;
        add(several_text(decl, all));
        add(several_text(decl, all >> 1)); // without the last, which may need another stage
    } else if (decl.kind == ParamKind::text && decl.name == "frames") { // numbers of frames
        add(std::string("2"));
        add(std::string("1+3+2"));
    } else if (decl.kind == ParamKind::integer || decl.kind == ParamKind::real) {
        const double number = decl.kind == ParamKind::integer
                                  ? static_cast<double>(std::get<std::int64_t>(usual))
                                  : std::get<double>(usual);
        if (std::abs(decl.min) < 1e12)
            add(number_value(decl, decl.min));
        if (std::abs(decl.max) < 1e12)
            add(number_value(decl, moderate_end(decl, number)));
    }
    return values;
}

/// Rows of value indices in which every pair of values of two factors occurs (greedy; few more rows than the
/// product of the two largest).
inline std::vector<std::vector<std::size_t>> pairwise(const std::vector<std::size_t>& counts) {
    const std::size_t n = counts.size();
    using Pair = std::array<std::size_t, 4>; // factor, value, factor, value
    std::set<Pair> open;
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = a + 1; b < n; ++b)
            for (std::size_t i = 0; i < counts[a]; ++i)
                for (std::size_t j = 0; j < counts[b]; ++j)
                    open.insert({a, i, b, j});
    std::vector<std::vector<std::size_t>> rows;
    constexpr std::size_t kUnset = static_cast<std::size_t>(-1);
    do {
        std::vector<std::size_t> row(n, kUnset);
        if (!open.empty()) {
            row[(*open.begin())[0]] = (*open.begin())[1];
            row[(*open.begin())[2]] = (*open.begin())[3];
        }
        for (std::size_t f = 0; f < n; ++f) {
            if (row[f] != kUnset)
                continue;
            std::size_t best = 0, most = 0;
            for (std::size_t k = 0; k < counts[f]; ++k) {
                const std::size_t v = (k + rows.size()) % counts[f]; // does not favour the first
                std::size_t covers = 0;
                for (std::size_t g = 0; g < n; ++g)
                    if (g != f && row[g] != kUnset)
                        covers += g < f ? open.count({g, row[g], f, v}) : open.count({f, v, g, row[g]});
                if (k == 0 || covers > most) {
                    best = v;
                    most = covers;
                }
            }
            row[f] = best;
        }
        for (std::size_t a = 0; a < n; ++a)
            for (std::size_t b = a + 1; b < n; ++b)
                open.erase({a, row[a], b, row[b]});
        rows.push_back(std::move(row));
    } while (!open.empty());
    return rows;
}

/// `picture(width, height)` returns the name of an image file of that size.
using PictureFile = std::function<std::string(int, int)>;

class CaseMaker {
public:
    CaseMaker(const StageType& type, PictureFile picture)
        : type_(type), picture_(std::move(picture)), kinds_(pixel_kinds(type)) {}

    std::vector<StageCase> make() {
        const Params defaults(*type_.table);
        const auto& decls = type_.table->decls();
        const auto first = std::find_if(decls.begin(), decls.end(),
                                        [](const ParamDecl& d) { return d.kind == ParamKind::choice; });
        // Visibility of parameters depends on a choice, so that each of its values gets its own table.
        for (const std::string& value :
             first == decls.end() ? std::vector<std::string>{""} : first->choices) {
            Params base = defaults;
            if (first != decls.end())
                base.set(first->name, value);
            combine(base, first == decls.end() ? "" : first->name);
            ends(base);
        }
        large(defaults);
        return std::move(cases_);
    }

private:
    void add(const Params& params, Shape shape, std::pair<int, int> size, bool is_large = false) {
        StageCase made;
        made.stage = {&type_, params};
        made.shape = shape;
        made.shape.width = size.first;
        made.shape.height = size.second;
        made.large = is_large;
        for (const ParamDecl& decl : type_.table->decls())
            if (decl.kind == ParamKind::path && params.visible(decl))
                made.stage.params.set(decl.name, picture_(size.first, size.second));
        if (names_.insert(made.name()).second)
            cases_.push_back(std::move(made));
    }

    static bool refuses(const StageCase& made) {
        try {
            made.stage.type->make_host(made.stage.params)
                ->prepare(accepted_shape(*made.stage.type, made.shape));
            return false;
        } catch (const UsageError&) {
            return true;
        }
    }

    /// All pairs of values of visible parameters, shapes and pixel kinds.
    void combine(const Params& base, const std::string& fixed) {
        std::vector<const ParamDecl*> free;
        std::vector<std::vector<ParamValue>> values;
        std::vector<std::size_t> counts{kAwkward.size(), kinds_.size()};
        for (const ParamDecl& decl : type_.table->decls()) {
            if (decl.name == fixed || !base.visible(decl) || combined_values(decl, base).size() < 2)
                continue;
            free.push_back(&decl);
            values.push_back(combined_values(decl, base));
            counts.push_back(values.back().size());
        }
        for (const std::vector<std::size_t>& row : pairwise(counts)) {
            Params params = base;
            for (std::size_t i = 0; i < free.size(); ++i)
                params.set(free[i]->name, values[i][row[i + 2]]);
            add(params, kinds_[row[1]], kAwkward[row[0]]);
            if (refuses(cases_.back())) // the same on a shape with enough space
                add(params, kinds_[row[1]], kAwkward.back());
        }
    }

    /// The actual ends of each range, one at a time.
    void ends(const Params& base) {
        for (const ParamDecl& decl : type_.table->decls()) {
            if ((decl.kind != ParamKind::integer && decl.kind != ParamKind::real) || !base.visible(decl))
                continue;
            for (const double end : {decl.min, decl.max}) {
                if (std::abs(end) > 1e12)
                    continue;
                Params params = base;
                params.set(decl.name, number_value(decl, end));
                add(params, kinds_[cases_.size() % kinds_.size()], kAwkward[0]);
            }
        }
    }

    /// The defaults with every kind of pixel, and each other choice once.
    void large(const Params& defaults) {
        for (const Shape& kind : kinds_)
            add(defaults, kind, kLarge, true);
        for (const ParamDecl& decl : type_.table->decls())
            if (decl.kind == ParamKind::choice || decl.kind == ParamKind::boolean)
                for (const ParamValue& value : combined_values(decl, defaults)) {
                    Params params = defaults;
                    params.set(decl.name, value);
                    add(params, kinds_[cases_.size() % kinds_.size()], kLarge, true);
                }
    }

    const StageType& type_;
    PictureFile picture_;
    std::vector<Shape> kinds_;
    std::vector<StageCase> cases_;
    std::set<std::string> names_;
};

/// Speckle with patches that are black, constant, at full scale and static. Fast, so that long sequences cost
/// little.
inline void paint_scene(HostView view, double full, std::uint64_t stream, int frame) {
    static const std::vector<double> quantiles = [] { // of the negative exponential distribution, mean 0.2
        std::vector<double> table(4096);
        for (std::size_t i = 0; i < table.size(); ++i)
            table[i] = std::min(1.0, -0.2 * std::log((static_cast<double>(i) + 0.5) / 4096));
        return table;
    }();
    const auto mixed = [](std::uint64_t h) { // splitmix64
        h += 0x9E3779B97F4A7C15U;
        h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9U;
        h = (h ^ (h >> 27)) * 0x94D049BB133111EBU;
        return h ^ (h >> 31);
    };
    const std::uint64_t still = mixed(test_seed() * 1009 + stream);
    const std::uint64_t moving = mixed(still + 1 + static_cast<std::uint64_t>(frame));
    dispatch(view.shape.type, [&](auto zero) {
        using T = decltype(zero);
        const auto pixels = view.as<T>();
        for (int y = 0; y < pixels.height; ++y)
            for (int i = 0; i < pixels.width * pixels.channels; ++i) {
                const int x = i / pixels.channels;
                const bool stays = x % 97 > 72 && y % 31 > 20;
                const std::uint64_t h =
                    mixed((stays ? still : moving) + static_cast<std::uint64_t>(y) * 0x10001U +
                          (static_cast<std::uint64_t>(i) << 32));
                double value = quantiles[h & 4095] * full;
                if (x % 61 < 5 && y % 23 < 4)
                    value = 0;
                else if (x % 61 < 10 && y % 23 < 4)
                    value = full / 3;
                else if (x % 61 == 15 && y % 29 == 10)
                    value = full;
                pixels.row(y)[i] = static_cast<T>(std::is_integral_v<T> ? std::nearbyint(value) : value);
            }
    });
}

} // namespace specklescope::test
