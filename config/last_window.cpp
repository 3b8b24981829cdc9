#include "config/last_window.hpp"

#include "config/recorded/recorded_settings.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "sources/source_text.hpp"

namespace specklescope {

namespace {

bool same_source(const SourceArgument& a, const SourceArgument& b) {
    const auto whole = [](const SourceArgument& source) { // as it is remembered
        return source.empty() ? source : absolute_source_text(source);
    };
    return whole(a) == whole(b);
}

} // namespace

void leave_regions_of_another_picture(const Settings& last, Settings& settings) {
    if (!settings.regions || settings.regions->empty())
        return;
    if (!settings.regions_path.empty()) {
        settings.regions.reset();
        settings.regions_from.clear();
    } else if (settings.regions_from.empty() && !same_source(last.source, settings.source)) {
        const std::size_t count = settings.regions->size();
        settings.remarks.push_back(std::to_string(count) +
                                   (count == 1
                                        ? " region of the last window was on another source: it is"
                                        : " regions of the last window were on another source: they are") +
                                   " left out.");
        settings.regions.reset();
    }
}

void leave_scale_of_another_picture(const Settings& last, Settings& settings) {
    if (settings.um_per_source_px == 0 || same_source(last.source, settings.source))
        return;
    settings.remarks.push_back(
        "The last window had pixels of " +
        to_string(settings.um_per_source_px * source_pixels_per_pixel(settings.chain)) +
        " µm, on another source: that is left out; --um-per-px says it of this one.");
    settings.um_per_source_px = 0;
}

void free_range_of_another_picture(const Settings& last, bool given, Settings& settings) {
    auto& mapping = settings.view.as<ViewSettings>().mapping;
    const bool same = same_source(last.source, settings.source) &&
                      settings.chain.quantity().name == last.chain.quantity().name &&
                      settings.chain.quantity().unit == last.chain.quantity().unit;
    if (mapping.automatic || same || given)
        return;
    mapping.automatic = true;
    settings.remarks.push_back("The fixed range of " +
                               (last.chain_from.empty() ? "the last window" : last.chain_from) + ", " +
                               to_string(mapping.low) + " to " + to_string(mapping.high) +
                               ", was for another picture: it is automatic again.");
}

void take_from_source(const SourceArgument& named, Settings& settings) {
    const bool last = settings.source_remembered && (named.empty() || same_source(named, settings.source));
    if (last && named.empty())
        return;
    if (last) {
        const SourceRecording source = look_at_source(settings);
        if (!source.path.empty())
            settings.remarks.push_back(source.path + " is shown as the last window left it; --config from:" +
                                       source.path + " takes its own settings.");
        return;
    }
    Settings taken = settings;
    taken.source = named;
    taken.source_remembered = false;
    leave_regions_of_another_picture(settings, taken);
    leave_scale_of_another_picture(settings, taken);
    const std::size_t said = taken.remarks.size();
    if (take_recording(taken))
        settings = std::move(taken);
    else // why not
        settings.remarks.insert(settings.remarks.end(),
                                taken.remarks.begin() + static_cast<std::ptrdiff_t>(said),
                                taken.remarks.end());
}

} // namespace specklescope
