// All sources, in the order of help and menus. The first is the default.
#include "sources/registry.hpp"
#include "base/source_argument.hpp"
#include "files/input_file.hpp"
#include "files/transfer.hpp"
#include "sources/aravis/aravis_source.hpp"
#include "sources/discreet_source.hpp"
#include "sources/files/image_source.hpp"
#include "sources/files/raw_source.hpp"
#include "sources/gst/gst_source.hpp"
#include "sources/synthetic/synthetic_source.hpp"

#include <algorithm>

namespace specklescope {

const std::vector<SourceType>& source_types() {
    static const std::vector<SourceType> types = {
        synthetic_source_type(), image_source_type(),  video_source_type(), raw_source_type(),
        v4l2_source_type(),      aravis_source_type(), rtsp_source_type(),  gst_source_type(),
    };
    return types;
}

const SourceType* source_type(std::string_view word) {
    const auto& types = source_types();
    const auto at = std::find_if(types.begin(), types.end(), [&](const SourceType& type) {
        return type.kind == word || (!type.alias.empty() && type.alias == word);
    });
    return at == types.end() ? nullptr : &*at;
}

std::string source_kinds() {
    std::string names;
    for (const SourceType& type : source_types())
        for (const std::string_view word : {type.kind, type.alias})
            if (!word.empty())
                names += (names.empty() ? "" : ", ") + std::string(word);
    return names;
}

namespace {

std::ptrdiff_t given(const SourceText& text, std::string_view key) {
    return std::count_if(text.options.begin(), text.options.end(),
                         [&](const auto& option) { return option.first == key; });
}

std::unique_ptr<Source> make_revealed(const std::string& text, const SourceDefaults& defaults) {
    SourceText parsed = parse_source_text(text);
    parsed.trusted = defaults.trusted;
    const SourceType& type = *source_type(parsed.kind);
    Params params(*type.table);
    if (defaults.rate > 0 && type.table->find("rate") && given(parsed, "rate") == 0)
        params.set("rate", defaults.rate);
    if (defaults.loop && type.table->find("loop") && given(parsed, "loop") == 0)
        params.set("loop", true);
    const bool pictures = type.table->find("transfer") != nullptr;
    if (pictures && given(parsed, "transfer") == 0)
        params.set("transfer", defaults.transfer);
    if (const auto asked = parse_transfer(defaults.transfer); !pictures && asked && !asked->linear())
        throw UsageError("transfer = " + defaults.transfer +
                         " applies only to images (PNG, JPEG, TIFF), and source " + parsed.kind +
                         " does not decode values. Leave it out.");
    for (const auto& [key, value] : parsed.options) {
        params.set_text(key, value);
        if (given(parsed, key) > 1)
            throw UsageError("source '" + text + "': " + key + " is given twice. Leave one of the two out.");
    }
    std::unique_ptr<Source> source = type.make(parsed, params);
    if (parsed.kind == "video" || parsed.kind == "raw") // images report it themselves
        check_exists(parsed.target);
    return source;
}

} // namespace

std::unique_ptr<Source> make_source(const SourceArgument& text, const SourceDefaults& defaults) {
    const SourceArgument whole = text.resolved(from_environment);
    if (!whole.holds_secret())
        return make_revealed(whole.revealed(), defaults);
    remember_secrets(whole);
    return discreetly(whole, [&] {
        return std::make_unique<DiscreetSource>(make_revealed(whole.revealed(), defaults), whole);
    });
}

} // namespace specklescope
