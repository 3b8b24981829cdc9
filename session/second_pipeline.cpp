#include "session/second_pipeline.hpp"

#include "config/start.hpp"

#include <algorithm>

namespace specklescope {

namespace {

/// True if a stage uses frames that were captured by its button: another run has other ones.
bool holds_capture(const Chain& chain) {
    for (const Chain computed = active(chain); const ChainStage& stage : computed.stages())
        for (const ParamDecl& decl : stage.params.table().decls())
            if (decl.kind == ParamKind::action && stage.params.visible(decl) &&
                stage.params.get(decl.name) != Params(stage.params.table()).get(decl.name))
                return true;
    return false;
}

/// The options of the film as they are edited now, at full speed and once.
void take_options(Pipeline& pipeline, const Params& now) {
    const Params options = pipeline.source_params();
    if (!options.has_table() || !now.has_table() || &options.table() != &now.table())
        return;
    for (const ParamDecl& decl : options.table().decls()) {
        const ParamValue wanted = decl.name == "speed"  ? ParamValue(0.0)
                                  : decl.name == "loop" ? ParamValue(false)
                                                        : now.get(decl.name);
        if (decl.kind != ParamKind::action && options.get(decl.name) != wanted)
            pipeline.edit_source(decl.name, wanted);
    }
}

} // namespace

bool sets_pace(const std::string& option) { return option == "speed" || option == "loop"; }

std::string why_no_second(const SessionState& state) {
    if (!state.running())
        return "No source is open.";
    const SourceInfo source = state.pipeline->status().source;
    if (source.live || !source.seekable)
        return "The source cannot be read twice. Record it and open the recording.";
    if (holds_capture(*state.pipeline->chain()))
        return "The dark or flat frame was captured by its button, and a second run would capture other "
               "frames. Use a file.";
    return "";
}

std::unique_ptr<Pipeline> second_pipeline(const SessionState& state, const SourceArgument* other) {
    const std::shared_ptr<const Chain> chain = state.pipeline->chain();
    Settings settings = state.settings;
    if (other)
        settings.source = *other;
    settings.command = Command::run; // without the pace of the window
    settings.chain = *chain;
    settings.regions.reset();
    settings.regions_path.clear();
    settings.program.set("loop", false);
    settings.program.set("frames", std::int64_t{0});
    settings.program.set("slots", std::int64_t{kMinSlots}); // the display has a ring, too
    // Regions are passed here and not by an edit, so that results have the same version as in a run.
    std::unique_ptr<Pipeline> made = make_pipeline(settings, {}, state.pipeline->regions());
    if (chain->channel() != state.program().channel)
        made->set_channel(chain->channel());
    if (const std::string shown = chain->displayed(); !shown.empty())
        made->show_output(shown);
    take_options(*made, other ? made->source_params() : state.pipeline->source_params());
    return made;
}

} // namespace specklescope
