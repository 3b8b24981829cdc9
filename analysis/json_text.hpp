// JSON that knows where each of its values stands, so that an error can say it. Small texts: everything is
// held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

struct JsonMember;

struct JsonValue {
    enum class Kind : std::uint8_t { null, boolean, number, text, list, object } kind = Kind::null;
    std::size_t line = 0; ///< from 1; of a list or an object where it begins
    bool boolean = false;
    double number = 0;
    std::string text;
    std::vector<JsonValue> items;
    std::vector<JsonMember> members; ///< in the order of the text
};
struct JsonMember {
    std::string key;
    JsonValue value;
};
/// "a number", "a list", …
std::string kind_name(const JsonValue& value);

/// One JSON value. Throws UsageError with `name`, the line and the byte: no JSON, a key given twice in one
/// object, more than `depth` levels, 64 keys in an object or 2²¹ values in all.
JsonValue parse_json(std::string_view text, const std::string& name, std::size_t depth);

} // namespace specklescope
