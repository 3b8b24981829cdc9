// The preset files as they were when the program was built.
#pragma once

#include <string_view>
#include <vector>

namespace specklescope {

struct PresetText {
    std::string_view name, toml;
};
const std::vector<PresetText>& preset_texts();

} // namespace specklescope
