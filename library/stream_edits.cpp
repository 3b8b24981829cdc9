// Edits of a stream that runs.
#include "library/behind_edits.hpp"
#include "library/chain.hpp"
#include "library/stream.hpp"

namespace specklescope::library {

/// The place is looked for where it will be used: behind all edits of other threads that came before, and
/// among the stages of that chain alone.
void StreamObject::set(const StagePlace& stage, const Values& values) {
    const std::scoped_lock lock(edits_);
    Chain next = agreed();
    const std::size_t place = place_of(next, stage);
    ChainStage& edited = next.stages()[place];
    set_values(edited, values);
    (void)settled(next);
    if (values.empty())
        return;
    NamedValues set;
    for (const auto& [name, text] : values)
        set.emplace_back(name, edited.params.get(name));
    last_edit_ = pipeline_->edit_all(place, set, wanted_.stages_of());
    wanted_.set(place, std::move(set), last_edit_);
}

Chain StreamObject::wanted() {
    const std::scoped_lock lock(edits_);
    return agreed();
}

const Chain& StreamObject::agreed() {
    wanted_.take_back(pipeline_->refused(wanted_.known()));
    return wanted_.chain();
}

void StreamObject::set_regions(std::vector<Region> regions) {
    auto outlines = regions.empty()
                        ? nullptr
                        : make_outlines(std::move(regions), settings_.program.as<ProgramSettings>().medians);
    const std::scoped_lock lock(edits_);
    last_edit_ = regions_version_ = pipeline_->set_regions(outlines);
    wanted_regions_ = std::move(outlines);
}

std::vector<Region> StreamObject::regions() {
    const std::scoped_lock lock(edits_);
    for (const RefusedEdit& refused : pipeline_->refused(regions_version_ - 1))
        if (refused.version == regions_version_ && refused.of_regions)
            wanted_regions_ = pipeline_->regions();
    return wanted_regions_ ? regions_of(*wanted_regions_) : std::vector<Region>();
}

void StreamObject::replace(Chain chain) {
    chain.set_input(pipeline_->status().source.quantity);
    check_fit(chain); // under no lock: it asks the caller whether it goes on
    const std::scoped_lock lock(edits_);
    last_edit_ = pipeline_->set_chain(chain);
    wanted_.replace(std::move(chain), last_edit_);
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

std::shared_ptr<Sink> StreamObject::behind_edits(std::shared_ptr<Sink> sink) {
    const std::scoped_lock lock(edits_);
    return std::make_shared<BehindEdits>(std::move(sink), *pipeline_, last_edit_);
}

} // namespace specklescope::library
