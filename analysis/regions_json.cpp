// Region files in JSON. Errors contain the line of a value, so that the parser stores it.
#include "analysis/regions_file.hpp"
#include "base/error.hpp"
#include "base/system.hpp"
#include "files/input_file.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace specklescope {

namespace {

struct JsonMember;

struct JsonValue {
    enum class Kind : std::uint8_t { null, boolean, number, text, list, object } kind = Kind::null;
    std::size_t line = 0; ///< from 1; of a list or object: its start
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
/// More than any valid file needs: limits memory (about 110 bytes per value) and time (keys are compared
/// pairwise).
constexpr std::size_t kMostValues = std::size_t{1} << 21, kMostKeys = 64;

/// Feeds the parser byte by byte and counts them.
class CountedBytes {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountedBytes(const char* at, std::size_t* taken) : at_(at), taken_(taken) {}
    reference operator*() const { return *at_; }
    CountedBytes& operator++() {
        ++at_;
        ++*taken_;
        return *this;
    }
    CountedBytes operator++(int) {
        CountedBytes before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CountedBytes& other) const { return at_ == other.at_; }
    bool operator!=(const CountedBytes& other) const { return at_ != other.at_; }

private:
    const char* at_;
    std::size_t* taken_;
};

class Builder final : public nlohmann::json_sax<nlohmann::json> {
public:
    Builder(std::string_view text, const std::string& name, std::size_t depth, const std::size_t& taken)
        : text_(text), name_(name), depth_(depth), taken_(taken) {}

    JsonValue take() { return std::move(root_); }

    bool null() override { return put(JsonValue::Kind::null), true; }
    bool boolean(bool value) override { return put(JsonValue::Kind::boolean).boolean = value, true; }
    bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
    bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
    bool number_float(number_float_t value, const string_t&) override { return number(value); }
    bool string(string_t& value) override {
        put(JsonValue::Kind::text).text = std::move(value);
        return true;
    }
    bool binary(binary_t&) override { return false; } // JSON has none
    bool start_object(std::size_t) override { return open(JsonValue::Kind::object); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(JsonValue::Kind::list); }
    bool end_array() override { return close(); }
    bool key(string_t& value) override {
        const auto& members = open_.back()->members;
        if (std::any_of(members.begin(), members.end(), [&](const auto& m) { return m.key == value; }))
            fail("the key '" + value.substr(0, 64) + "' is given twice; leave one of the two out");
        if (members.size() == kMostKeys)
            fail("an object has more than " + std::to_string(kMostKeys) + " keys");
        key_ = std::move(value);
        return true;
    }
    bool parse_error(std::size_t byte, const std::string&,
                     const nlohmann::detail::exception& error) override {
        taken_here_ = byte;
        fail(error.id == 406 ? "a number is too large" : "it is not JSON");
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw UsageError(name_ + ", line " + std::to_string(line()) + ", byte " +
                         std::to_string(std::max<std::size_t>(taken(), 1)) + ": " + what + ".");
    }

    std::size_t taken() const { return taken_here_ > 0 ? taken_here_ : taken_; }
    /// After a number the parser has read one byte more, which may be the end of the line.
    std::size_t line() const {
        const std::size_t end = std::min(text_.size(), std::max<std::size_t>(taken(), 1) - 1);
        while (counted_ < end)
            lines_ += text_[counted_++] == '\n' ? 1 : 0;
        return lines_;
    }

    JsonValue& put(JsonValue::Kind kind) {
        if (++values_ > kMostValues)
            fail("there are more than " + std::to_string(kMostValues) + " values");
        JsonValue* place = &root_;
        if (!open_.empty() && open_.back()->kind == JsonValue::Kind::list)
            place = &open_.back()->items.emplace_back();
        else if (!open_.empty())
            place = &open_.back()->members.emplace_back(JsonMember{std::move(key_), {}}).value;
        place->kind = kind;
        place->line = line();
        return *place;
    }
    bool number(double value) {
        put(JsonValue::Kind::number).number = value;
        return true;
    }
    bool open(JsonValue::Kind kind) {
        if (open_.size() == depth_)
            fail("lists and objects lie more than " + std::to_string(depth_) + " deep in each other");
        open_.push_back(
            &put(kind)); // the pointer stays valid: the parent list does not grow while this value is open
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t depth_;
    const std::size_t& taken_;
    std::size_t values_ = 0;
    std::size_t taken_here_ = 0; ///< position reported by the parser
    mutable std::size_t counted_ = 0, lines_ = 1;
    std::string key_;
    JsonValue root_;
    std::vector<JsonValue*> open_;
};

/// "a number", "a list", …
std::string kind_name(const JsonValue& value) {
    static const char* const kNames[] = {"null", "true or false", "a number", "text", "a list", "an object"};
    return kNames[static_cast<std::size_t>(value.kind)];
}

/// Parses one JSON value. Throws UsageError with `name`, line and byte for invalid JSON, duplicate keys, more
/// than `depth` levels, 64 keys in an object or 2²¹ values in total.
JsonValue parse_json(std::string_view text, const std::string& name, std::size_t depth) {
    std::size_t taken = 0;
    Builder builder(text, name, depth, taken);
    nlohmann::json::sax_parse(CountedBytes(text.data(), &taken),
                              CountedBytes(text.data() + text.size(), &taken), &builder);
    return builder.take();
}

// Reads {"regions":[…]}; errors name the line.

class RegionsReader {
public:
    explicit RegionsReader(const std::string& name) : name_(name) {}

    std::vector<Region> read(const JsonValue& root) {
        std::vector<Region> regions;
        std::unordered_map<std::string, std::size_t> lines;
        const JsonValue* list = nullptr;
        for (const auto& [key, value] : object(root, "the whole")) {
            if (key != "regions")
                fail(root, "there is no key '" + key.substr(0, 64) + "' here; allowed: regions");
            list = &value;
        }
        if (!list)
            fail(root, R"(there is no list of regions; allowed: {"regions":[…]})");
        if (list->kind != JsonValue::Kind::list)
            fail(*list, "regions is " + kind_name(*list) + "; allowed: a list");
        if (list->items.size() > kMaxRegions)
            fail(*list, "there are " + std::to_string(list->items.size()) + " regions; allowed: up to " +
                            std::to_string(kMaxRegions));
        for (const JsonValue& item : list->items) {
            regions.push_back(region(item));
            const auto [before, fresh] = lines.emplace(regions.back().name, item.line);
            if (!fresh)
                fail(item, "the region of line " + std::to_string(before->second) + " has the name '" +
                               regions.back().name + "' too; give each one a name of its own");
        }
        return regions;
    }

private:
    [[noreturn]] void fail(const JsonValue& where, const std::string& sentence) const {
        throw UsageError(name_ + ", line " + std::to_string(where.line) + ": " + sentence + ".");
    }

    const std::vector<JsonMember>& object(const JsonValue& value, const std::string& what) const {
        if (value.kind != JsonValue::Kind::object)
            fail(value, what + " is " + kind_name(value) + "; allowed: an object in braces");
        return value.members;
    }

    const std::string& text(const std::string& key, const JsonValue& value) const {
        if (value.kind != JsonValue::Kind::text)
            fail(value, key + " is " + kind_name(value) + "; allowed: text in quotation marks");
        return value.text;
    }

    RegionShape shape(const JsonValue& value) const {
        const auto& names = region_shape_names();
        const auto found = std::find(names.begin(), names.end(), text("shape", value));
        if (found == names.end()) {
            std::string all;
            for (const std::string& name : names)
                all += (all.empty() ? "" : ", ") + name;
            fail(value, "there is no shape '" + value.text.substr(0, 64) + "'; allowed: " + all);
        }
        return static_cast<RegionShape>(found - names.begin());
    }

    std::vector<RegionPoint> points(const JsonValue& value) const {
        if (value.kind != JsonValue::Kind::list)
            fail(value, "points is " + kind_name(value) + "; allowed: a list of [x, y]");
        std::vector<RegionPoint> points;
        for (const JsonValue& item : value.items) {
            const auto number = [](const JsonValue& v) { return v.kind == JsonValue::Kind::number; };
            if (item.kind != JsonValue::Kind::list || item.items.size() != 2 ||
                !std::all_of(item.items.begin(), item.items.end(), number))
                fail(item, "a point is " + kind_name(item) + "; allowed: [x, y], two numbers");
            points.push_back({item.items[0].number, item.items[1].number});
        }
        return points;
    }

    Region region(const JsonValue& item) const {
        Region region;
        bool named = false, shaped = false, drawn = false;
        for (const auto& [key, value] : object(item, "a region")) {
            if (key == "name") {
                region.name = text(key, value);
                named = true;
            } else if (key == "shape") {
                region.shape = shape(value);
                shaped = true;
            } else if (key == "points") {
                region.points = points(value);
                drawn = true;
            } else if (key == "colour") {
                region.colour = text(key, value);
            } else if (key == "locked") {
                if (value.kind != JsonValue::Kind::boolean)
                    fail(value, "locked is " + kind_name(value) + "; allowed: true, false");
                region.locked = value.boolean;
            } else {
                fail(value, "there is no key '" + key.substr(0, 64) +
                                "' in a region; allowed: name, shape, points, colour, locked");
            }
        }
        if (!named || !shaped || !drawn)
            fail(item, std::string("the region has no ") +
                           (!named    ? "name"
                            : !shaped ? "shape"
                                      : "points") +
                           R"(; allowed: {"name":"box","shape":"rectangle","points":[[10,8],[29,27]]})");
        try {
            check_region(region);
        } catch (const UsageError& error) {
            throw UsageError(name_ + ", line " + std::to_string(item.line) + ": " + error.what());
        }
        return region;
    }

    const std::string& name_;
};

} // namespace

std::vector<Region> read_regions_json(std::string_view text, const std::string& name) {
    constexpr std::size_t kDepth = 6; // root, regions, region, points, point, and one extra
    return RegionsReader(name).read(parse_json(text, name, kDepth));
}

std::string to_json(const std::vector<Region>& regions) {
    using Json = nlohmann::ordered_json;
    std::string out = "{\"regions\":[";
    for (std::size_t i = 0; i < regions.size(); ++i) {
        const Region& region = regions[i];
        Json json = {{"name", region.name}, {"shape", to_string(region.shape)}};
        json["points"] = Json::array();
        for (const RegionPoint& point : region.points)
            json["points"].push_back({point.x, point.y});
        if (!region.colour.empty())
            json["colour"] = region.colour;
        if (region.locked)
            json["locked"] = true;
        out += (i > 0 ? ",\n" : "\n") + json.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    return out + "\n]}\n";
}

std::vector<Region> load_regions(const std::string& path) {
    const std::string text = whole_text(path, kMaxRegionsFile, "file of regions");
    const std::string ending = lower_ending(path);
    const auto bytes = std::as_bytes(std::span(text));
    if (ending == ".roi")
        return {read_imagej_roi(bytes, path, std::filesystem::path(path).stem().string())};
    if (ending == ".zip")
        return read_imagej_zip(bytes, path);
    return read_regions_json(text, path);
}

} // namespace specklescope
