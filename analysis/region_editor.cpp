#include "analysis/region_editor.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace specklescope {

namespace {

constexpr std::size_t kMaxUndoPoints = std::size_t{4} << 20; ///< of all steps: 64 MB
constexpr double kCopyOffset = 10;                           ///< px

std::size_t points_of(const std::vector<Region>& regions) {
    std::size_t count = 0;
    for (const Region& region : regions)
        count += region.points.size();
    return count;
}

Region moved(Region region, double dx, double dy) {
    for (RegionPoint& point : region.points)
        point = {point.x + dx, point.y + dy};
    return region;
}

/// "vessel 12" → "vessel", 12; without a number 0.
std::pair<std::string, std::uint64_t> numbered(const std::string& name) {
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    const std::size_t count = name.size() - digits;
    if (count == 0 || count > 9 || digits < 2 || name[digits - 1] != ' ')
        return {name, 0};
    return {name.substr(0, digits - 1), std::stoull(name.substr(digits))};
}

} // namespace

const std::vector<std::string>& region_palette() {
    static const std::vector<std::string> colours = {"#ee8866", "#99ddff", "#bbcc33", "#ffaabb",
                                                     "#44bb99", "#eedd88", "#77aadd"};
    return colours;
}

const std::string& region_colour(const Region& region, std::size_t index) {
    return region.colour.empty() ? region_palette()[index % region_palette().size()] : region.colour;
}

void RegionEditor::set_picture(int width, int height) {
    width_ = width;
    height_ = height;
}

void RegionEditor::select(Index index) { selected_ = index && *index < regions_.size() ? index : Index(); }

void RegionEditor::select_next(int step) {
    const auto count = static_cast<std::ptrdiff_t>(regions_.size());
    if (count == 0)
        return;
    const std::ptrdiff_t none = step > 0 ? -1 : count;
    const std::ptrdiff_t now = selected_ ? static_cast<std::ptrdiff_t>(*selected_) : none;
    selected_ = static_cast<std::size_t>((now + step + count) % count);
}

bool RegionEditor::touches_picture(const Region& region) const {
    if (width_ <= 0 || height_ <= 0)
        return true;
    std::vector<RowSpan> spans;
    return region_spans(region, width_, height_, spans) != RegionFit::outside;
}

bool RegionEditor::fits(const Region& region) const {
    try {
        check_region(region);
        return touches_picture(region);
    } catch (const UsageError&) {
        return false;
    }
}

std::string RegionEditor::size_text() const { return std::to_string(width_) + "×" + std::to_string(height_); }

bool RegionEditor::taken(const std::string& name, Index except) const {
    for (std::size_t i = 0; i < regions_.size(); ++i)
        if (i != except && regions_[i].name == name)
            return true;
    return false;
}

std::string RegionEditor::fresh_name(const std::string& like) const {
    const std::string base = numbered(like).first;
    std::uint64_t last = taken(base) ? 1 : 0;
    for (const Region& region : regions_)
        if (const auto [other, number] = numbered(region.name); other == base)
            last = std::max(last, number);
    std::string fresh;
    do // numbers of more digits than numbered() reads may be taken as well
        fresh = base + " " + std::to_string(++last);
    while (taken(fresh));
    return fresh.size() <= kMaxRegionName ? fresh : fresh_name("region");
}

std::string RegionEditor::next_colour() const {
    const std::vector<std::string>& palette = region_palette();
    std::vector<std::size_t> used(palette.size());
    for (std::size_t i = 0; i < regions_.size(); ++i) {
        const auto at = std::find(palette.begin(), palette.end(), region_colour(regions_[i], i));
        if (at != palette.end())
            ++used[static_cast<std::size_t>(at - palette.begin())];
    }
    return palette[static_cast<std::size_t>(std::min_element(used.begin(), used.end()) - used.begin())];
}

void RegionEditor::splice(std::size_t at, std::size_t removed, std::vector<Region> added) {
    const auto first = regions_.begin() + static_cast<std::ptrdiff_t>(at);
    regions_.erase(first, first + static_cast<std::ptrdiff_t>(removed));
    const std::size_t count = added.size();
    regions_.insert(regions_.begin() + static_cast<std::ptrdiff_t>(at),
                    std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
    ++revision_;
    selected_ = count == 1 ? Index(at) : Index();
}

void RegionEditor::change(std::size_t at, std::size_t removed, std::vector<Region> added) {
    const auto first = regions_.begin() + static_cast<std::ptrdiff_t>(at);
    Step step{at, {first, first + static_cast<std::ptrdiff_t>(removed)}, added};
    splice(at, removed, std::move(added));
    undo_.push_back(std::move(step));
    redo_.clear();
    forget_oldest();
}

void RegionEditor::forget_oldest() {
    std::size_t points = 0;
    for (const Step& step : undo_)
        points += points_of(step.before) + points_of(step.after);
    while (undo_.size() > 1 && (undo_.size() > kMaxSteps || points > kMaxUndoPoints)) {
        points -= points_of(undo_.front().before) + points_of(undo_.front().after);
        undo_.pop_front();
    }
}

void RegionEditor::reset(std::vector<Region> regions) {
    check_regions(regions);
    cancel_drag();
    undo_.clear();
    redo_.clear();
    splice(0, regions_.size(), std::move(regions));
    selected_.reset();
}

void RegionEditor::replace(std::vector<Region> regions) {
    check_regions(regions);
    for (const Region& region : regions)
        if (!touches_picture(region))
            throw UsageError("Region '" + region.name + "' has no pixel on the picture of " + size_text() +
                             "; the regions that are there stay.");
    cancel_drag();
    change(0, regions_.size(), std::move(regions));
    selected_.reset();
}

void RegionEditor::add(RegionShape shape, std::vector<RegionPoint> points) {
    Region region{fresh_name("region"), shape, std::move(points), next_colour(), false};
    if (regions_.size() >= kMaxRegions)
        throw UsageError("There are " + std::to_string(kMaxRegions) + " regions, as many as are allowed.");
    check_region(region);
    if (!touches_picture(region))
        throw UsageError("The " + to_string(shape) + " has no pixel on the picture of " + size_text() +
                         " and was not added; draw it on the picture.");
    cancel_drag();
    change(regions_.size(), 0, {std::move(region)});
}

void RegionEditor::insert_copy(const Region& region) {
    if (regions_.size() >= kMaxRegions)
        throw UsageError("There are " + std::to_string(kMaxRegions) + " regions, as many as are allowed.");
    Region copy = region;
    if (taken(copy.name))
        copy.name = fresh_name(region.name);
    copy.colour = next_colour();
    copy.locked = false;
    // Beside it on whichever side there is room; else on it.
    constexpr std::array<RegionPoint, 5> kSides = {{{1, 1}, {-1, 1}, {1, -1}, {-1, -1}, {0, 0}}};
    for (const RegionPoint& side : kSides) {
        Region there = moved(copy, side.x * kCopyOffset, side.y * kCopyOffset);
        if (!fits(there))
            continue;
        cancel_drag();
        return change(regions_.size(), 0, {std::move(there)});
    }
    throw UsageError("The copy of region '" + region.name + "' would have no pixel on the picture of " +
                     size_text() + " and was not added; move the region first.");
}

void RegionEditor::duplicate(std::size_t index) {
    if (index < regions_.size())
        insert_copy(Region(regions_[index]));
}

void RegionEditor::paste(const Region& region) { insert_copy(region); }

bool RegionEditor::remove(std::size_t index) {
    if (index >= regions_.size() || regions_[index].locked)
        return false;
    cancel_drag();
    change(index, 1, {});
    return true;
}

bool RegionEditor::change_one(std::size_t index, Region changed) {
    cancel_drag();
    if (changed == regions_[index])
        return false;
    const Index selected = selected_;
    change(index, 1, {std::move(changed)});
    selected_ = selected;
    return true;
}

void RegionEditor::rename(std::size_t index, std::string name) {
    if (index >= regions_.size())
        return;
    Region changed = regions_[index];
    changed.name = std::move(name);
    check_region(changed);
    if (taken(changed.name, index))
        throw UsageError("There is a region '" + changed.name +
                         "' already; give each one a name of its own.");
    change_one(index, std::move(changed));
}

void RegionEditor::recolour(std::size_t index, std::string colour) {
    if (index >= regions_.size())
        return;
    Region changed = regions_[index];
    changed.colour = std::move(colour);
    check_region(changed);
    change_one(index, std::move(changed));
}

void RegionEditor::lock(std::size_t index, bool on) {
    if (index >= regions_.size())
        return;
    Region changed = regions_[index];
    changed.locked = on;
    change_one(index, std::move(changed));
}

bool RegionEditor::move(std::size_t index, double dx, double dy) {
    if (index >= regions_.size() || regions_[index].locked)
        return false;
    Region there = moved(regions_[index], dx, dy);
    if (!fits(there) && touches_picture(regions_[index]))
        return false;
    return change_one(index, std::move(there));
}

bool RegionEditor::undo() {
    cancel_drag();
    if (undo_.empty())
        return false;
    Step step = std::move(undo_.back());
    undo_.pop_back();
    splice(step.at, step.after.size(), step.before);
    redo_.push_back(std::move(step));
    return true;
}

bool RegionEditor::redo() {
    cancel_drag();
    if (redo_.empty())
        return false;
    Step step = std::move(redo_.back());
    redo_.pop_back();
    splice(step.at, step.before.size(), step.after);
    undo_.push_back(std::move(step));
    return true;
}

} // namespace specklescope
