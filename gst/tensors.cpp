#include "gst/tensors.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

namespace specklescope::element {

namespace {

/// NNStreamer's type names.
constexpr std::array<const char*, 3> kTypes{"uint8", "uint16", "float32"};

void append(GValue& list, const std::string& text) {
    GValue one = G_VALUE_INIT;
    g_value_init(&one, G_TYPE_STRING);
    g_value_set_string(&one, text.c_str());
    gst_value_list_append_and_take_value(&list, &one);
}

/// "1:67:45:1"; empty for other texts.
std::vector<int> numbers_of(std::string_view text) {
    std::vector<int> numbers;
    while (true) {
        int number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc() || number < 1)
            return {};
        numbers.push_back(number);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (text.empty())
            return numbers;
        if (text.front() != ':')
            return {};
        text.remove_prefix(1);
    }
}

/// Channels, width, height.
std::optional<std::array<int, 3>> dimensions_of(const GstStructure* structure) {
    const gchar* const text = gst_structure_get_string(structure, "dimensions");
    const std::vector<int> all = numbers_of(text ? text : "");
    if (!gst_structure_has_name(structure, kTensors) || all.size() < 3 ||
        std::any_of(all.begin() + 3, all.end(), [](int number) { return number != 1; }))
        return std::nullopt;
    return std::array{all[0], all[1], all[2]};
}

} // namespace

std::string tensors_template() {
    return std::string(kTensors) +
           ", format = (string) static, num_tensors = (int) 1, types = (string) { float32, uint16, uint8 }";
}

GstStructure* tensors_of(const specklescope_image& image) {
    GstStructure* structure =
        gst_structure_new(kTensors, "format", G_TYPE_STRING, "static", "num_tensors", G_TYPE_INT, 1, "types",
                          G_TYPE_STRING, kTypes.at(static_cast<std::size_t>(image.type)), nullptr);
    const std::string dimensions = std::to_string(image.channels == 3 ? 3 : 1) + ":" +
                                   std::to_string(image.width) + ":" + std::to_string(image.height);
    GValue spellings = G_VALUE_INIT;
    g_value_init(&spellings, GST_TYPE_LIST);
    append(spellings, dimensions + ":1"); // as NNStreamer's own elements write it
    append(spellings, dimensions);
    gst_structure_take_value(structure, "dimensions", &spellings);
    return structure;
}

std::optional<specklescope_image> shape_of_tensors(const GstStructure* structure) {
    const std::optional<std::array<int, 3>> dimensions = dimensions_of(structure);
    const gchar* const format = gst_structure_get_string(structure, "format");
    const gchar* const types = gst_structure_get_string(structure, "types");
    gint tensors = 0;
    if (!dimensions || !format || std::string_view(format) != "static" || !types ||
        !gst_structure_get_int(structure, "num_tensors", &tensors) || tensors != 1)
        return std::nullopt;
    const auto* const type = std::find(kTypes.begin(), kTypes.end(), std::string_view(types));
    auto image = sized<specklescope_image>();
    image.channels = (*dimensions)[0];
    image.width = (*dimensions)[1];
    image.height = (*dimensions)[2];
    if (type == kTypes.end() || (image.channels != 1 && image.channels != 3))
        return std::nullopt;
    image.type = static_cast<std::int32_t>(type - kTypes.begin());
    return image;
}

std::optional<std::pair<int, int>> size_of_tensors(const GstStructure* structure) {
    const std::optional<std::array<int, 3>> dimensions = dimensions_of(structure);
    return dimensions ? std::optional(std::pair((*dimensions)[1], (*dimensions)[2])) : std::nullopt;
}

} // namespace specklescope::element
