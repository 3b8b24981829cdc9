#include "ui/actions/entries.hpp"

#include "ui/panels/chain_edits.hpp"
#include "ui/presets/preset_edits.hpp"
#include "session/session.hpp"
#include "ui/sources/recent.hpp"

namespace specklescope {

void add_chain_entries(Session& session, std::vector<PaletteEntry>& entries) {
    const std::string full = why_no_stage(session);
    for (const StageType& type : stage_types())
        entries.push_back({"Add a stage", std::string(type.title), std::string(type.name), "", full,
                           [&session, &type] { add_stage(session, type); }});
    const std::vector<ChainStage>& stages = session.chain().stages();
    for (std::size_t i = 0; i < stages.size(); ++i) {
        const std::string title = std::to_string(i + 1) + ". " + std::string(stages[i].type->title);
        const bool bypassed = stages[i].bypassed;
        entries.push_back({"Chain", (bypassed ? "Compute " : "Bypass ") + title, "bypass", "", "",
                           [&session, i, bypassed] { bypass_stage(session, i, !bypassed); }});
        entries.push_back(
            {"Chain", "Take out " + title, "remove", "", "", [&session, i] { remove_stage(session, i); }});
        entries.push_back({"Chain", "Move " + title + " earlier", "up", "",
                           i > 0 ? "" : "It is the first one.",
                           [&session, i] { move_stage(session, i, i - 1); }});
        entries.push_back({"Chain", "Move " + title + " later", "down", "",
                           i + 1 < stages.size() ? "" : "It is the last one.",
                           [&session, i] { move_stage(session, i, i + 1); }});
    }
}

void add_preset_entries(Session& session, std::vector<PaletteEntry>& entries) {
    for (const Preset& preset : presets())
        entries.push_back({"Preset", preset.name + ": " + preset.doc, preset.name, "",
                           session.pipeline() ? "" : "No source is open.",
                           [&session, name = preset.name] { take_preset(session, name); }});
}

void add_source_entries(Session& session, std::vector<PaletteEntry>& entries) {
    for (const RecentSource& recent : recent_sources(session))
        entries.push_back({"Open", recent.source.shown(), "", recent.note,
                           session.opening() ? "Another source is being opened." : "",
                           [&session, source = recent.source] { session.open(source); }});
}

} // namespace specklescope
