// Outputs that other programs read: open for the whole run, and fed by each of its pipelines.
#pragma once

#include "config/settings.hpp"
#include "net/control/server.hpp"
#include "net/metrics/metrics.hpp"
#include "net/outlet.hpp"
#include "net/publisher.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace specklescope {

struct Doors {
    std::optional<ControlCounts> control; ///< answers to requests, where they are taken
    std::shared_ptr<Publisher> publisher; ///< null: nothing is published
    std::vector<std::shared_ptr<Outlet>> outlets;
    std::shared_ptr<Metrics> metrics; ///< null: none
    SteadyClock::time_point metrics_updated{};

    /// Adds a feed of each to a pipeline.
    void join(Pipeline& pipeline) const;
    void mark(const EventMark& event) const { ///< with published results
        if (publisher)
            publisher->mark(event);
    }
    void update_metrics(const Pipeline& pipeline); ///< call regularly
    bool send_results() const { return publisher || !outlets.empty(); }
};
/// Opens the outputs of the settings; outlets show `look`. Throws UsageError or RunError.
Doors open_doors(const Settings& settings, const std::shared_ptr<const LiveLook>& look);

/// Totals for the metrics.
std::vector<DoorTotal> totals(const Doors& doors);

} // namespace specklescope
