#include "session/undo.hpp"

#include "config/settings.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

namespace specklescope {

namespace {

constexpr std::array<std::string_view, 14> kWindow = {
    "overlay",  "panel", "panel_size", "traces", "traces_size",    "width", "height",
    "ui_scale", "vsync", "monitor",    "sound",  "panel_sections", "theme", "report_form"};

bool of_window(const ParamDecl& decl) {
    return std::find(kWindow.begin(), kWindow.end(), decl.name) != kWindow.end();
}

std::string arrow(const std::string& before, const std::string& after) { return before + " → " + after; }

/// The label within a sentence: "tone curve".
std::string spoken(std::string label) {
    const auto is_lower = [](char letter) { return letter >= 'a' && letter <= 'z'; };
    if (label.size() > 1 && label[0] >= 'A' && label[0] <= 'Z' && is_lower(label[1]))
        label[0] = static_cast<char>(label[0] - 'A' + 'a');
    return label;
}

std::string short_text(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.5g", value);
    return text.data();
}

std::string value_text(const ParamDecl& decl, const ParamValue& value) {
    if (const bool* on = std::get_if<bool>(&value))
        return *on ? "on" : "off";
    if (const double* real = std::get_if<double>(&value))
        return short_text(*real);
    const std::string text = to_string(value);
    return decl.kind == ParamKind::choice ? choice_label(decl, text) : text.empty() ? "none" : text;
}

/// "radius 3 → 5" for each visible parameter that differs.
void add_changes(const std::string& owner, const Params& a, const Params& b,
                 std::vector<std::string>& edits) {
    for (const ParamDecl& decl : a.table().decls())
        if (decl.kind != ParamKind::action && a.get(decl.name) != b.get(decl.name))
            edits.push_back(owner + spoken(decl.label) + " " +
                            arrow(value_text(decl, a.get(decl.name)), value_text(decl, b.get(decl.name))));
}

std::vector<std::string> names_of(const Chain& chain) {
    std::vector<std::string> names;
    for (const ChainStage& stage : chain.stages())
        names.emplace_back(stage.type->name);
    return names;
}

/// The element that `more` has in addition to `fewer`, if that is the only difference; otherwise empty.
std::string extra_one(const std::vector<std::string>& more, const std::vector<std::string>& fewer) {
    if (more.size() != fewer.size() + 1)
        return "";
    const auto at = std::mismatch(fewer.begin(), fewer.end(), more.begin()).second;
    return std::equal(at + 1, more.end(), fewer.begin() + (at - more.begin()), fewer.end()) ? *at : "";
}

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
}

void add_chain_edits(const Chain& a, const Chain& b, std::vector<std::string>& edits) {
    const std::vector<std::string> before = names_of(a), after = names_of(b);
    if (const std::string added = extra_one(after, before); !added.empty()) {
        edits.push_back("added " + added);
    } else if (const std::string removed = extra_one(before, after); !removed.empty()) {
        edits.push_back("removed " + removed);
    } else if (before != after) {
        const bool order = std::is_permutation(before.begin(), before.end(), after.begin(), after.end());
        edits.push_back((order ? "order " : "stages ") + arrow(joined(before), joined(after)));
    } else {
        for (std::size_t i = 0; i < before.size(); ++i) {
            const ChainStage &old = a.stages()[i], &now = b.stages()[i];
            if (old.bypassed != now.bypassed)
                edits.push_back((now.bypassed ? "bypassed " : "computed again: ") + before[i]);
            add_changes(before[i] + " ", old.params, now.params, edits);
        }
    }
    if (a.shown() != b.shown())
        edits.push_back("image " + arrow(a.shown().empty() ? "result" : a.shown(),
                                         b.shown().empty() ? "result" : b.shown()));
    if (a.channel() != b.channel())
        edits.push_back("channel " +
                        arrow(capitalised(to_string(a.channel())), capitalised(to_string(b.channel()))));
}

std::string summary(const std::vector<std::string>& edits) {
    if (edits.empty())
        return "";
    return edits[0] + (edits.size() == 1   ? ""
                       : edits.size() == 2 ? ", " + edits[1]
                                           : " and " + std::to_string(edits.size() - 1) + " more");
}

std::string range_text(const Mapping& mapping) {
    return mapping.automatic ? "automatic" : short_text(mapping.low) + "–" + short_text(mapping.high);
}

void add_view_edits(const Params& a, const Params& b, std::vector<std::string>& edits) {
    const Mapping &old = a.as<ViewSettings>().mapping, &now = b.as<ViewSettings>().mapping;
    if (old.automatic != now.automatic || (!now.automatic && (old.low != now.low || old.high != now.high)))
        edits.push_back("range " + arrow(range_text(old), range_text(now)));
    Params rest = a;
    keep_window_settings(rest, b);
    for (const char* end : {"automatic", "low", "high"})
        rest.set(end, b.get(end));
    add_changes("", rest, b, edits);
}

/// Describes the difference between two versions of a region.
std::string region_edit(const Region& a, const Region& b) {
    if (a.name != b.name)
        return "renamed " + arrow(a.name, b.name);
    if (a.colour != b.colour)
        return "colour of " + a.name;
    if (a.locked != b.locked)
        return (b.locked ? "locked " : "unlocked ") + b.name;
    const auto moved = [&](const RegionPoint& p, const RegionPoint& q) {
        return q.x - p.x == b.points[0].x - a.points[0].x && q.y - p.y == b.points[0].y - a.points[0].y;
    };
    const bool shifted =
        std::equal(a.points.begin(), a.points.end(), b.points.begin(), b.points.end(), moved);
    return (shifted ? "moved " : "reshaped ") + b.name;
}

void add_region_edits(const std::vector<Region>& a, const std::vector<Region>& b,
                      std::vector<std::string>& edits) {
    const auto [first, there] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    if (first == a.end() && there == b.end())
        return;
    const auto rest_same = [](auto from, auto end, auto other, auto other_end) {
        return std::equal(from, end, other, other_end);
    };
    if (b.size() == a.size() + 1 && rest_same(first, a.end(), there + 1, b.end()))
        edits.push_back("added " + there->name);
    else if (a.size() == b.size() + 1 && rest_same(first + 1, a.end(), there, b.end()))
        edits.push_back("removed " + first->name);
    else if (a.size() == b.size() && rest_same(first + 1, a.end(), there + 1, b.end()))
        edits.push_back(region_edit(*first, *there));
    else
        edits.push_back("regions " + arrow(std::to_string(a.size()), std::to_string(b.size())));
}

void add_interval_edits(const std::vector<Interval>& a, const std::vector<Interval>& b,
                        std::vector<std::string>& edits) {
    const auto plain = [](std::vector<Interval> intervals) {
        choose_baseline(intervals, {});
        return intervals;
    };
    const std::vector<Interval> before = plain(a), after = plain(b);
    const auto [first, there] = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
    if (before == after) {
        const auto at = baseline_of(b);
        if (a != b)
            edits.push_back("baseline " + (at ? b[*at].name : std::string("none")));
    } else if (after.size() == before.size() + 1) {
        edits.push_back("added interval " + there->name);
    } else if (after.size() + 1 == before.size()) {
        edits.push_back("removed interval " + first->name);
    } else if (first != before.end() && there != after.end() && first->name != there->name) {
        edits.push_back("renamed " + arrow(first->name, there->name));
    } else {
        edits.push_back("moved interval " + (there != after.end() ? there->name : first->name));
    }
}

/// Bytes of the parts that a state does not share with the previous one; null: the first state.
std::size_t bytes_of(const UndoState& state, const UndoState* before) {
    std::size_t bytes = 0;
    if (!before || before->regions != state.regions)
        for (const Region& region : *state.regions)
            bytes += sizeof region + region.points.size() * sizeof(RegionPoint);
    if (state.baseline_image && (!before || before->baseline_image != state.baseline_image))
        bytes += state.baseline_image->values().size() * sizeof(float);
    return bytes;
}

} // namespace

void keep_window_settings(Params& view, const Params& now) {
    for (const ParamDecl& decl : now.table().decls())
        if (of_window(decl))
            view.set(decl.name, now.get(decl.name));
    Mapping& mapping = view.as<ViewSettings>().mapping;
    if (mapping.automatic) {
        mapping.low = now.as<ViewSettings>().mapping.low;
        mapping.high = now.as<ViewSettings>().mapping.high;
    }
}

std::string edit_between(const UndoState& a, const UndoState& b) {
    std::vector<std::string> edits;
    add_chain_edits(a.chain, b.chain, edits);
    if (a.regions != b.regions)
        add_region_edits(*a.regions, *b.regions, edits);
    add_view_edits(a.view, b.view, edits);
    if (a.um_per_source_px != b.um_per_source_px)
        edits.push_back("pixel size " + (b.um_per_source_px > 0
                                             ? short_text(b.um_per_source_px) + " µm per raw pixel"
                                             : std::string("as the source states it")));
    if (a.intervals != b.intervals)
        add_interval_edits(a.intervals, b.intervals, edits);
    if (a.baseline_image != b.baseline_image && !a.image_over && !b.image_over)
        edits.emplace_back(b.baseline_image ? "baseline of the image" : "no baseline of the image");
    return summary(edits);
}

std::string chain_edit(const Chain& before, const Chain& after) {
    std::vector<std::string> edits;
    add_chain_edits(before, after, edits);
    return summary(edits);
}

void UndoHistory::record(UndoState now, std::string edit) {
    if (edit.empty())
        edit = std::exchange(next_, "");
    if (entries_.empty())
        return entries_.push_back({"", std::move(now), 0});
    const UndoState& last = entries_[at_].state;
    if (*last.regions == *now.regions)
        now.regions = last.regions;
    std::string found = edit_between(last, now);
    if (found.empty())
        return amend(std::move(now));
    if (edit.empty())
        edit = std::move(found);
    const std::size_t bytes = bytes_of(now, &last);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, entries_.end());
    entries_.push_back({std::move(edit), std::move(now), bytes});
    ++at_;
    std::size_t sum = 0;
    for (const Entry& entry : entries_)
        sum += entry.bytes;
    while (at_ > 0 && (entries_.size() > kMaxEntries || sum > kMaxBytes)) {
        sum -= entries_.front().bytes;
        entries_.pop_front();
        --at_;
    }
}

void UndoHistory::amend(UndoState now) {
    if (entries_.empty())
        return;
    Entry& entry = entries_[at_];
    if (entry.state.baseline_image != now.baseline_image || entry.state.regions != now.regions)
        entry.bytes = bytes_of(now, at_ > 0 ? &entries_[at_ - 1].state : nullptr);
    entry.state = std::move(now);
}

void UndoHistory::forget_source(const UndoState& now) {
    for (Entry& entry : entries_) {
        entry.state.um_per_source_px = now.um_per_source_px;
        entry.state.intervals.clear();
        entry.state.baseline.reset();
        entry.state.baseline_image.reset();
        entry.state.image_over.reset();
    }
}

} // namespace specklescope
