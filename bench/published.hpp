// What five published systems did, as work for this program: the same filters, sizes and pixel types, and a
// page that puts their figures beside ours.
#pragma once

#include "bench/device.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace specklescope::bench {

struct Published {
    const char* what;
    const char* source;   ///< authors, year, where
    const char* figure;   ///< of the publication; "" where it was not at hand
    const char* hardware; ///< that the figure comes from
    const char* alike;    ///< what is like for like
    const char* unlike;   ///< what is not
    std::vector<KernelCase> cases;
};
const std::vector<Published>& published();

/// A row for every case that fits: the host with 1, 2, 4 … all threads, the GPU with the kernels alone and
/// with a frame's way there and the result's way back. "published" fits all. Sets `wrong` if a result is.
nlohmann::ordered_json run_published(std::string_view filter, bool host, DeviceBench* device, bool& wrong);
bool any_published(std::string_view filter);

/// Rows of one report.
std::string published_table(const nlohmann::ordered_json& rows);
/// Published beside ours, from all reports that have such rows; empty if none has.
std::string published_page(const std::vector<nlohmann::ordered_json>& reports);

} // namespace specklescope::bench
