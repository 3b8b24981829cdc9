// Throughput of frames from slots through an executor, on one GPU and on several.
#pragma once

#include "pipeline/executor.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace specklescope::bench {

struct StreamRun {
    double frames_per_s = 0;
    double up_gb_per_s = 0;   ///< input bytes over the time
    double down_gb_per_s = 0; ///< output bytes to the host; 0 without downloads
    double latency_ms = 0;    ///< mean from submit to collect, with a full executor
    double submit_us = 0;     ///< mean duration of submit()
    double kernels_ms = 0;    ///< mean of timed frames, all stages together
    int frames = 0;
};

/// Stages as chain text; at least `seconds` long.
StreamRun run_stream(Executor& executor, const std::vector<std::string>& stages, const Shape& shape,
                     bool want_host, double seconds = 1);

/// Rows of section "gpus": kernel-bound work on 1, 2, 4 … and all GPUs, without downloads. Empty without a
/// GPU.
nlohmann::ordered_json run_gpus();

} // namespace specklescope::bench
