// Undo and redo: a bounded list of states. Session::record_edits() compares the present state with the last
// one, so that no edit has to report itself.
#pragma once

#include "analysis/baseline_image.hpp"
#include "analysis/interval.hpp"
#include "analysis/region.hpp"
#include "analysis/trace_history.hpp"
#include "pipeline/chain.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

/// Everything that undo restores.
struct UndoState {
    Chain chain;
    std::shared_ptr<const std::vector<Region>> regions; ///< shared by states with the same regions
    Params view;
    double um_per_source_px = 0;
    std::vector<Interval> intervals;
    std::optional<TraceMeans> baseline; ///< over the baseline interval; follows it, and is no edit of its own
    std::shared_ptr<const BaselineImage> baseline_image; ///< null: none
    std::optional<Interval> image_over; ///< interval that the image follows, as `baseline` does; none: none
};

/// Names the edit that leads from one state to another: "speckle radius 3 → 5", "added gaussian", "range 0–1
/// → 0–0.4", "moved region 2". Empty if they are the same.
std::string edit_between(const UndoState& before, const UndoState& after);

/// The same of the chain only.
std::string chain_edit(const Chain& before, const Chain& after);

/// Copies what belongs to the window and not to the measurement (sizes, panels), and the ends of an automatic
/// range, which change by themselves.
void keep_window_settings(Params& view, const Params& now);

class UndoHistory {
public:
    static constexpr std::size_t kMaxEntries = 500;
    static constexpr std::size_t kMaxBytes = std::size_t{64} << 20; ///< of regions and baseline images

    struct Entry {
        std::string edit; ///< that led to this state; empty for the first one
        UndoState state;
        std::size_t bytes = 0; ///< memory that is not shared with the entry before
    };
    const std::deque<Entry>& entries() const { return entries_; }
    std::size_t at() const { return at_; } ///< index of the present state
    bool can_undo() const { return at_ > 0; }
    bool can_redo() const { return at_ + 1 < entries_.size(); }

    /// Adds the present state if an edit leads to it, otherwise updates the last one. `edit`: its name;
    /// empty: as name_next() or edit_between().
    void record(UndoState now, std::string edit = {});
    void name_next(std::string edit) { next_ = std::move(edit); } ///< the edit that the next record() finds
    /// Replaces the present state without an entry.
    void amend(UndoState now);
    /// Call when another source was opened: earlier states get its pixel size and lose their baselines.
    void forget_source(const UndoState& now);
    void move_to(std::size_t index) { at_ = index; }

private:
    std::deque<Entry> entries_;
    std::size_t at_ = 0;
    std::string next_; ///< name_next()
};

} // namespace specklescope
