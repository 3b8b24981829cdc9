// The exposures that the frames take in turn: listed by the user, or found in the first cycle.
#include "base/error.hpp"
#include "base/text.hpp"
#include "stages/mesi/mesi.hpp"

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {

/// Exposures in chunk data vary by steps of the camera's clock.
constexpr double kSameExposure = 1e-2;

bool same(double a, double b) { return std::abs(a - b) <= kSameExposure * std::max(a, b); }

/// "0.1+0.5+2" or "0.1,0.5,2" in ms. Throws UsageError.
std::vector<double> listed(const std::string& text) {
    if (text.empty())
        return {};
    const auto exposures = number_list(text);
    if (!exposures ||
        !std::all_of(exposures->begin(), exposures->end(), [](double ms) { return ms >= 1e-3 && ms <= 1e5; }))
        throw UsageError("stage mesi: exposures = " + text +
                         " is not a list of times. Give milliseconds joined by +, such as 0.5+1+2+4+8.");
    return *exposures;
}

} // namespace

MesiSet::MesiSet(const MesiParams& params) : params_(params) {
    const std::vector<double> exposures = listed(params.exposures);
    listed_ = !exposures.empty();
    if (!listed_)
        return;
    const auto count = exposures.size();
    for (std::size_t i = 1; i < count; ++i)
        if (exposures[i] < exposures[i - 1] || same(exposures[i], exposures[i - 1]))
            throw UsageError("stage mesi: exposures = " + params.exposures +
                             " is not ascending. Give each exposure once, the shortest first.");
    if (count > kMesiExposures)
        throw UsageError("stage mesi: exposures has " + std::to_string(count) + " times. Give at most " +
                         std::to_string(kMesiExposures) + ".");
    if (const int least = fitted(params.fit); static_cast<int>(count) < least)
        throw UsageError("stage mesi: exposures has " + std::to_string(count) + " times for " +
                         std::to_string(least) + " fitted parameters. Give at least " +
                         std::to_string(least) + ", or fit fewer parameters.");
    count_ = static_cast<int>(count);
    for (std::size_t i = 0; i < count; ++i)
        slots_[i].ms = exposures[i];
}

void MesiSet::reset() {
    for (Slot& slot : slots_)
        slot = {.ms = slot.ms};
    if (!listed_)
        count_ = 0;
    frames_ = cycle_ = 0;
    latest_ = -1;
    complete_ = unknown_ = false;
}

void MesiSet::set_params(const MesiParams& params) {
    params_ = params;
    if (complete_)
        make_task();
}

int MesiSet::place_of(const FrameInfo& info) {
    const double exposure_ms = info.exposure_ms * info.summed;
    unknown_ = !std::isfinite(exposure_ms);
    if (unknown_) // a listed cycle that starts with the first frame
        return listed_ ? static_cast<int>(info.position.value_or(info.sequence) %
                                          static_cast<std::uint64_t>(count_))
                       : -1;
    for (int i = 0; i < count_; ++i)
        if (same(slots_[static_cast<std::size_t>(i)].ms, exposure_ms))
            return i;
    if (listed_ || count_ == kMesiExposures || !(exposure_ms > 0))
        return -1;
    slots_[static_cast<std::size_t>(count_)] = {.ms = exposure_ms};
    return count_++;
}

MesiStore MesiSet::next(const FrameInfo& info, bool again) {
    MesiStore store{.squares = params_.input == ContrastInput::contrast};
    if (again && frames_ > 0)
        return store;
    // The camera left the cycle when an exposure stays away: the next frames are another one.
    const auto stale = [&](const Slot& slot) { return frames_ - slot.last > 4 * cycle_ + kMesiExposures; };
    if (!listed_ && complete_ && std::any_of(slots_.begin(), slots_.begin() + count_, stale))
        reset();
    ++frames_;
    const int known = count_;
    const int place = place_of(info);
    if (place < 0)
        return store;
    Slot& slot = slots_[static_cast<std::size_t>(place)];
    store.slot = place;
    store.first = slot.frames == 0;
    ++slot.frames;
    slot.last = frames_;
    store.weight = 1 / static_cast<float>(std::min(slot.frames, static_cast<std::uint64_t>(params_.cycles)));
    const bool returns = place < known && place != latest_ && !store.first;
    latest_ = place;
    const bool full = listed_ ? std::all_of(slots_.begin(), slots_.begin() + count_,
                                            [](const Slot& one) { return one.frames > 0; })
                              : returns && count_ >= fitted(params_.fit);
    if (complete_ ? count_ > known : full) {
        cycle_ = complete_ ? cycle_ : frames_;
        complete_ = true;
        make_task();
    }
    return store;
}

void MesiSet::make_task() {
    std::array<double, kMesiExposures> exposures{};
    std::transform(slots_.begin(), slots_.end(), exposures.begin(), [](const Slot& slot) { return slot.ms; });
    task_ = mesi_task(params_.fit, params_.beta, params_.noise, params_.iterations, exposures.data(), count_);
}

Warmup MesiSet::warmup() const {
    const auto filled = static_cast<int>(std::count_if(slots_.begin(), slots_.begin() + count_,
                                                       [](const Slot& slot) { return slot.frames > 0; }));
    if (complete_)
        return {{}, filled, filled};
    return {{}, filled, listed_ ? count_ : std::max(filled + 1, fitted(params_.fit))};
}

std::string MesiSet::note() const {
    if (unknown_ && !listed_)
        return "the frames state no exposure: set exposures to those of the cycle, in ms";
    if (count_ == 0)
        return "";
    const auto [least, most] = std::minmax_element(slots_.begin(), slots_.begin() + count_,
                                                   [](const Slot& a, const Slot& b) { return a.ms < b.ms; });
    return std::to_string(count_) + (count_ == 1 ? " exposure, " : " exposures, ") +
           to_string(ParamValue(least->ms)) + (count_ == 1 ? "" : "…" + to_string(ParamValue(most->ms))) +
           " ms";
}

} // namespace specklescope
