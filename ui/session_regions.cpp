// The session's regions: handed to the pipeline, read from and written to files.
#include "analysis/regions_file.hpp"
#include "config/atomic_file.hpp"
#include "config/keys/bindings.hpp"
#include "ui/session.hpp"

namespace specklescope {

namespace {

std::string count_of(const RegionEditor& editor) {
    const std::size_t count = editor.regions().size();
    return std::to_string(count) + (count == 1 ? " region" : " regions");
}

} // namespace

void Session::send_regions() {
    if (!pipeline_ || regions.revision() == regions_sent_)
        return;
    regions_sent_ = regions.revision();
    pipeline_->set_regions(regions.regions().empty()
                               ? nullptr
                               : make_outlines(regions.regions(),
                                               settings_.program.as<ProgramSettings>().medians,
                                               OutsideRegions::mark));
}

void Session::load_regions_file(const std::string& path) {
    const bool before = !regions.regions().empty();
    regions.replace(load_regions(path));
    regions_path = path;
    say(Message::Level::info,
        "Read " + count_of(regions) + " from " + path +
            (before ? "; undo" + with_key("", settings_.keys, Action::undo) + " brings back those before."
                    : "."));
}

void Session::save_regions_file(const std::string& path) {
    write_atomically(path, to_json(regions.regions()));
    regions_path = path;
    say(Message::Level::info, "Wrote " + count_of(regions) + " to " + path + ".");
}

} // namespace specklescope
