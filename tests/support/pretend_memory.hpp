// Simulates a machine with another amount of memory.
#pragma once

#include "base/memory_budget.hpp"

namespace specklescope::test {

/// Sets the available memory for its lifetime.
class PretendMemory {
public:
    explicit PretendMemory(std::uint64_t bytes) { pretend_memory(bytes); }
    PretendMemory(const PretendMemory&) = delete;
    PretendMemory& operator=(const PretendMemory&) = delete;
    ~PretendMemory() { pretend_memory(std::nullopt); }
};

} // namespace specklescope::test
