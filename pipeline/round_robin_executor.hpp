// Several executors as one: frames go to them in turn, results come back in order.
#pragma once

#include "pipeline/executor.hpp"

namespace specklescope {

/// For stateless chains: set_chain() throws UsageError for others, since no member sees every frame. Each
/// member gets its frames on a thread of its own. Results on the host come without their device images, which
/// lie on different devices. An error names the member; what is in flight then is lost here. `members` must
/// not be empty and are all of one backend.
std::unique_ptr<Executor> make_round_robin_executor(std::vector<std::unique_ptr<Executor>> members);

/// "all" or "0,2": indices of GPUs, none twice, of `count` that there are. Throws UsageError.
std::vector<int> parse_gpus(std::string_view text, int count);

} // namespace specklescope
