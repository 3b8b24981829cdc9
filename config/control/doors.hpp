// What has gone out through the program's doors, and what found no room.
#pragma once

#include "net/control/clients.hpp"
#include "net/metrics/metrics.hpp"
#include "net/publisher.hpp"
#include "recording/outlet/outlet.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace specklescope {

/// Those that are open.
struct Doors {
    std::optional<ControlCounts> control;
    std::shared_ptr<Publisher> publisher; ///< null: nothing is published
    std::vector<std::shared_ptr<Outlet>> outlets;
};

/// For the metrics.
std::vector<DoorTotal> totals(const Doors& doors);

} // namespace specklescope
