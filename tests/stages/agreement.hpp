// Differences between host and device, by the measure of each stage, and the file that reports them.
#pragma once

#include "config/executor.hpp"
#include "tests/stages/stage_run.hpp"
#include "tests/support/child.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ctime>
#include <map>

namespace specklescope::test {

/// Results for one stage; by name, for the page.
struct Row {
    int cases = 0, refused = 0, frames = 0;
    int chosen_otherwise = 0; ///< host and device chose different methods
    std::uint64_t samples = 0, differing = 0;
    double worst = 0; ///< in units of StageType::tolerance
    int steps = 0;    ///< integers: largest difference in grey levels
    std::string worst_case;
    double seconds = 0;
};
inline std::map<std::string, Row>& rows() {
    static std::map<std::string, Row> all;
    return all;
}

/// An executor reports a warm-up only while it lasts.
inline bool same_warmup(const Warmup& a, const Warmup& b) {
    return (a.done() && b.done()) || (a.frames == b.frames && a.wanted == b.wanted);
}

/// The measure of StageType::tolerance.
class Comparison {
public:
    Comparison(const StageType& type, Row& row) : type_(type), row_(row) {}

    /// Empty if they agree.
    std::string compare(const Shot& host, const Shot& device, double input_peak) {
        if (host.shape != device.shape)
            return "shape " + to_string(host.shape) + " and " + to_string(device.shape);
        if (!same_warmup(host.warmup, device.warmup))
            return "warm-up " + to_string(host.warmup) + " and " + to_string(device.warmup);
        if (host.counts != device.counts)
            return "counts of undefined, infinite, saturated pixels: " + counts_text(host.counts) + " and " +
                   counts_text(device.counts);
        for (std::size_t i = 0; i < host.also.size(); ++i)
            if (const std::string text = compare(host.also[i], device.also.at(i), input_peak); !text.empty())
                return "named output " + std::to_string(i) + ", " + text;
        row_.samples += host.shape.bytes() / pixel_bytes(host.shape.type);
        return dispatch(host.shape.type, [&](auto zero) {
            using T = decltype(zero);
            return samples(reinterpret_cast<const T*>(host.pixels.data()),
                           reinterpret_cast<const T*>(device.pixels.data()), host, input_peak);
        });
    }

private:
    static std::string counts_text(const PixelCounts& counts) {
        return std::to_string(counts.undefined) + " " + std::to_string(counts.infinite) + " " +
               std::to_string(counts.saturated);
    }

    template <class T>
    std::string samples(const T* host, const T* device, const Shot& shot, double input_peak) {
        const std::size_t count = shot.pixels.size() / sizeof(T);
        const bool kept = type_.quantity == same_quantity;
        double scale = std::is_integral_v<T>
                           ? (shot.full_scale > 0 ? shot.full_scale : type_full_scale(shot.shape.type))
                           : input_peak;
        if constexpr (!std::is_integral_v<T>)
            for (std::size_t i = 0; i < count; ++i)
                if (std::isfinite(host[i]))
                    scale = std::max(scale, std::abs(static_cast<double>(host[i])));
        std::string text;
        for (std::size_t i = 0; i < count; ++i) {
            if (std::memcmp(host + i, device + i, sizeof(T)) == 0)
                continue;
            const auto a = static_cast<double>(host[i]), b = static_cast<double>(device[i]);
            if (std::isnan(a) && std::isnan(b))
                continue;
            ++row_.differing;
            const double apart = std::abs(a - b);
            double measure =
                kept ? apart / (scale > 0 ? scale : 1) : apart / std::max({std::abs(a), std::abs(b), 1e-300});
            if (!std::isfinite(a) || !std::isfinite(b))
                measure = std::numeric_limits<double>::infinity();
            bool good = measure <= type_.tolerance;
            if constexpr (std::is_integral_v<T>) {
                row_.steps = std::max(row_.steps, static_cast<int>(apart));
                good = good || (type_.tolerance > 0 && apart <= 1);
            } else if (measure > row_.worst || !good) {
                worst_here_ = true;
                row_.worst = std::max(row_.worst, measure);
            }
            if (!good && text.empty())
                text = "row " + std::to_string(i * sizeof(T) / shot.shape.row_bytes()) + ", sample " +
                       std::to_string(i * sizeof(T) % shot.shape.row_bytes() / sizeof(T)) + ": host " +
                       std::to_string(a) + ", device " + std::to_string(b) + ", " + std::to_string(measure) +
                       " apart";
        }
        return text;
    }

public:
    bool worst_here_ = false; ///< the last comparison was the worst so far
private:
    const StageType& type_;
    Row& row_;
};

inline std::unique_ptr<Executor> cuda_executor() {
    return make_executor({.backend = Backend::cuda, .threads = 0, .gpus = ""}, nullptr);
}

inline std::string driver_version() {
    std::istringstream line(read_text("/proc/driver/nvidia/version"));
    for (std::string word; line >> word;)
        if (word.size() > 4 && word.find('.') != std::string::npos &&
            word.find_first_not_of("0123456789.") == std::string::npos)
            return word;
    return "";
}

/// Writes the file at the end of the program, if requested and if something was compared.
class PageWriter final : public testing::Environment {
public:
    void TearDown() override {
        const char* path = std::getenv("SPECKLESCOPE_AGREEMENT_FILE"); // NOLINT(concurrency-mt-unsafe)
        if (!path || rows().empty())
            return;
        nlohmann::ordered_json page;
        std::array<char, 32> date{};
        const std::time_t now = std::time(nullptr);
        std::tm utc{};
        gmtime_r(&now, &utc);
        std::strftime(date.data(), date.size(), "%Y-%m-%d", &utc);
        page["date"] = date.data();
        page["device"] = cuda_executor()->device_name();
        page["driver"] = driver_version();
        page["host"] = make_host_executor(0)->device_name();
        page["seed"] = test_seed();
        for (const StageType& type : stage_types()) {
            const auto at = rows().find(std::string(type.name));
            if (at == rows().end())
                continue;
            const Row& row = at->second;
            page["stages"].push_back({{"name", type.name},
                                      {"cases", row.cases},
                                      {"refused", row.refused},
                                      {"chosen_otherwise", row.chosen_otherwise},
                                      {"frames", row.frames},
                                      {"samples", row.samples},
                                      {"differing", row.differing},
                                      {"measure", type.tolerance == 0              ? "identical bytes"
                                                  : type.quantity == same_quantity ? "of full scale"
                                                                                   : "relative"},
                                      {"tolerance", type.tolerance},
                                      {"worst", row.worst},
                                      {"levels", row.steps},
                                      {"worst_case", row.worst_case}});
        }
        write_text(path, page.dump(2) + "\n");
        std::printf("wrote %s\n", path);
    }
};

} // namespace specklescope::test
