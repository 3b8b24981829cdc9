// A machine with other memory than this one has.
#pragma once

#include "base/memory_budget.hpp"

namespace specklescope::test {

/// While it lives so many bytes are said to be available.
class PretendMemory {
public:
    explicit PretendMemory(std::uint64_t bytes) { pretend_memory(bytes); }
    PretendMemory(const PretendMemory&) = delete;
    PretendMemory& operator=(const PretendMemory&) = delete;
    ~PretendMemory() { pretend_memory(std::nullopt); }
};

} // namespace specklescope::test
