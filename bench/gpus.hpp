// One chain on one GPU and on several of the same host.
#pragma once

#include <nlohmann/json.hpp>

namespace specklescope::bench {

/// Rows of section "gpus": kernel-bound work on 1, 2, 4 … GPUs and on all there are, results left there.
/// Empty without a GPU.
nlohmann::ordered_json run_gpus();

} // namespace specklescope::bench
