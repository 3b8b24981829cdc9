// Frames from slots through an executor as fast as it takes them, on one GPU and on several.
#pragma once

#include "pipeline/executor.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace specklescope::bench {

struct StreamRun {
    double frames_per_s = 0;
    double up_gb_per_s = 0;   ///< bytes of the pixels that came in, over the time
    double down_gb_per_s = 0; ///< of those that went back to the host; 0 if none did
    double latency_ms = 0;    ///< mean from submit to collect, with the executor kept full
    double submit_us = 0;     ///< mean of what submit() took of the caller's time
    double kernels_ms = 0;    ///< mean over timed frames of all stages together
    int frames = 0;
};

/// Stages in chain text; at least `seconds` long.
StreamRun run_stream(Executor& executor, const std::vector<std::string>& stages, const Shape& shape,
                     bool want_host, double seconds = 1);

/// Rows of section "gpus": kernel-bound work on 1, 2, 4 … GPUs and on all there are, results left there.
/// Empty without a GPU.
nlohmann::ordered_json run_gpus();

} // namespace specklescope::bench
