#include "library/stage_place.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <charconv>
#include <system_error>

namespace specklescope::library {

namespace {

std::size_t place_of_name(const Chain& chain, std::string_view name) {
    std::string names;
    std::size_t place = 0, found = 0;
    for (std::size_t i = 0; i < chain.stages().size(); ++i) {
        const std::string_view own = chain.stages()[i].type->name;
        names += (names.empty() ? "" : ", ") + std::string(own);
        if (own == name) {
            place = i;
            ++found;
        }
    }
    if (found == 1)
        return place;
    throw UsageError(std::string("The chain has ") + (found > 1 ? "several stages '" : "no stage '") +
                     std::string(name) + "'; it is made of " + (names.empty() ? "none" : names) +
                     ": give one's place, counted from 0.");
}

} // namespace

StagePlace stage_named(std::string_view text) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos)
        return text;
    std::size_t place = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), place).ec != std::errc())
        return text; // too large for a place: the sentence has it as it was given
    return place;
}

std::size_t place_of(const Chain& chain, const StagePlace& stage) {
    if (const auto* name = std::get_if<std::string_view>(&stage))
        return place_of_name(chain, *name);
    const std::size_t place = std::get<std::size_t>(stage);
    if (place >= chain.stages().size())
        throw UsageError("There is no stage number " + std::to_string(place) + " in the chain; it has " +
                         std::to_string(chain.stages().size()) + ", counted from 0.");
    return place;
}

Values values_of(std::string_view text) {
    Values values;
    for_key_values(text, "The values", [&](std::string_view name, const std::string& value) {
        values.emplace_back(name, value);
    });
    return values;
}

void set_values(ChainStage& stage, const Values& values) {
    for (const auto& [name, value] : values)
        stage.params.set_text(name, value);
}

} // namespace specklescope::library
