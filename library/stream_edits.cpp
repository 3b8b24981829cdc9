// Edits of a stream that runs.
#include "library/chain.hpp"
#include "library/stream.hpp"

namespace specklescope::library {

/// The stage is looked up in the newest chain, while no other thread edits it.
void StreamObject::set(const StagePlace& stage, const Values& values) {
    if (values.empty()) {
        (void)place_of(*pipeline_->chain(), stage);
        return;
    }
    pipeline_->edit([&](Chain& next) { set_values(next.stages()[place_of(next, stage)], values); });
}

void StreamObject::set_regions(std::vector<Region> regions) {
    const bool medians = settings_.program.as<ProgramSettings>().medians;
    pipeline_->set_regions(regions.empty() ? nullptr : make_outlines(std::move(regions), medians));
}

std::vector<Region> StreamObject::regions() const {
    const auto outlines = pipeline_->regions();
    return outlines ? regions_of(*outlines) : std::vector<Region>();
}

void StreamObject::replace(Chain chain) {
    chain.set_input(pipeline_->status().source.quantity);
    check_fit(chain); // under no lock: it asks the caller whether it goes on
    pipeline_->set_chain(std::move(chain));
}

/// A chain that stays behind would go on giving the old one's numbers.
void StreamObject::check_fit(Chain chain) const {
    chain.set_channel(settings_.program.as<ProgramSettings>().channel);
    (void)settled(chain);
    const Shape frames = pipeline_->status().source.shape;
    if (frames.width < 1 || frames.height < 1)
        return; // not known yet
    const Asking asking(watcher_);
    check_runs(chain, frames);
}

} // namespace specklescope::library
