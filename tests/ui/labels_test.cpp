// Labels of controls and lists: words, in the room of their column. The exact key is in the tooltip.
#include "config/settings.hpp"
#include "recording/limits/record_limits.hpp"
#include "sources/registry.hpp"
#include "tests/ui/drawn.hpp"
#include "ui/panels/controls.hpp"

#include <set>
#include <sstream>

namespace specklescope::labels_test {

/// Keys that are words of a user as they are.
const std::set<std::string> kWords = {
    "activation", "age",       "angle",     "automatic", "backend",    "band",    "baseline", "beats",
    "bins",       "black",     "blur",      "border",    "burn",       "capture", "cataract", "channel",
    "clip",       "dark",      "direction", "exposure",  "file",       "flat",    "format",   "frame",
    "frames",     "free",      "full",      "gain",      "gamma",      "header",  "height",   "high",
    "input",      "keep",      "kernel",    "kind",      "latency",    "layout",  "length",   "line",
    "live",       "loop",      "low",       "memory",    "method",     "model",   "noise",    "note",
    "output",     "packet",    "panel",     "per",       "percentile", "pigment", "radius",   "rate",
    "read",       "reference", "scale",     "scaling",   "scene",      "seed",    "sigma",    "size",
    "slice",      "source",    "speckle",   "speed",     "start",      "stops",   "strength", "subject",
    "theme",      "tiles",     "timeout",   "traces",    "transport",  "trigger", "width"};
/// Names of formats, colour maps, protocols and constants, which are the field's own.
const std::set<std::string> kNames = {"viridis", "inferno", "magma",  "turbo", "jet",
                                      "luma",    "mono8",   "mono10", "mono12"};

bool is_words(std::string label, const std::set<std::string>& known) {
    std::transform(label.begin(), label.end(), label.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    std::istringstream in(label);
    for (std::string word; in >> word;)
        if (!known.contains(word))
            return false;
    return true;
}

struct Shown {
    std::string owner;
    const ParamDecl* decl;
};

/// The parameters that the panels show.
std::vector<Shown> all_shown() {
    std::vector<Shown> all;
    const auto add = [&](const ParamTable& table, const std::set<std::string>& only = {}) {
        for (const ParamDecl& decl : table.decls())
            if (only.empty() || only.contains(decl.name))
                all.push_back({table.owner(), &decl});
    };
    for (const StageType& type : stage_types())
        add(*type.table);
    for (const SourceType& type : source_types())
        add(*type.table);
    add(record_limits_table());
    add(screen_marks_table());
    add(program_table(), {"channel"});
    add(view_table(), {"layout", "split", "blend_opacity", "blend_threshold", "low_percentile",
                       "high_percentile", "exposure_stops", "curve", "baseline_s", "change_range", "theme"});
    return all;
}

using Labels = DrawnParts;

TEST_F(Labels, AreWordsThatFitTheirColumn) {
    const ImFont& font = *theme::fonts().normal;
    for (const auto& [owner, decl] : all_shown()) {
        const std::string where = owner + " " + decl->name + ": " + decl->label;
        EXPECT_EQ(decl->label.find('_'), std::string::npos) << where;
        EXPECT_NE(decl->label, decl->name) << where;
        EXPECT_TRUE(decl->label != capitalised(decl->name) || is_words(decl->label, kWords))
            << where << " needs a label of words";
        if (decl->kind != ParamKind::action) { // a button has the whole line
            EXPECT_LE(font.CalcTextSizeA(font.FontSize, FLT_MAX, 0, decl->label.c_str()).x, 106) << where;
        }
    }
}

TEST_F(Labels, OfListsAreWords) {
    for (const auto& [owner, decl] : all_shown())
        for (std::size_t i = 0; i < decl->choices.size(); ++i) {
            const std::string where =
                owner + " " + decl->name + "=" + decl->choices[i] + ": " + decl->labels[i];
            EXPECT_EQ(decl->labels[i].find('_'), std::string::npos) << where;
            EXPECT_TRUE(!std::islower(static_cast<unsigned char>(decl->choices[i][0])) ||
                        decl->labels[i] != decl->choices[i])
                << where;
            std::printf("LIST %s\n", where.c_str());
        }
}

} // namespace specklescope::labels_test
