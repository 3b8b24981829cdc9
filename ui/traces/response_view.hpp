// Table of responses: mean, peak, latency and area of each region in each interval that is not the baseline.
#pragma once

#include "analysis/baseline.hpp"
#include "analysis/interval.hpp"
#include "analysis/response.hpp"
#include "ui/canvas/view.hpp"

#include <chrono>
#include <imgui.h>
#include <string>
#include <vector>

namespace specklescope {

class Session;

class ResponseView {
public:
    /// There is an interval that is not the baseline.
    bool offered(const Session& session) const;
    void button();
    bool wanted() const { return wanted_; }
    void toggle() { wanted_ = !wanted_; }
    /// `relative`: in % of F₀.
    void draw(const Rect& area, const TraceOverview& about, Session& session,
              const std::vector<ImU32>& colours, bool relative);

private:
    struct Row {
        std::string interval, region;
        ImU32 colour = 0;
        Response response;
        std::string why; ///< reason why there is no response; empty: there is one
    };
    void measure(const TraceOverview& about, Session& session, const std::vector<ImU32>& colours,
                 bool relative);
    std::string text(const TraceOverview& about, bool relative) const; ///< with tabs

    bool wanted_ = false;
    std::vector<Row> rows_;
    std::vector<Interval> measured_;
    bool measured_relative_ = false;
    std::chrono::steady_clock::time_point measured_at_{};
};

} // namespace specklescope
