// Combines several executors: frames are assigned in rotation, results are collected in order.
#pragma once

#include "pipeline/executor.hpp"

namespace specklescope {

/// For stateless chains only; set_chain() throws UsageError for others, since no member sees every frame.
/// Each member has its own thread. Results on the host have no device image, since those are on different
/// devices. An error names the member; its frames in flight are lost. `members` must not be empty and must
/// have one backend.
std::unique_ptr<Executor> make_round_robin_executor(std::vector<std::unique_ptr<Executor>> members);

/// "all" or "0,2": GPU indices below `count`, without duplicates. Throws UsageError.
std::vector<int> parse_gpus(std::string_view text, int count);

} // namespace specklescope
