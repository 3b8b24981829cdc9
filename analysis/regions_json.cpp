// {"regions":[…]}, read with the line of whatever is wrong.
#include "analysis/json_text.hpp"
#include "analysis/regions_file.hpp"

#include "base/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_map>

namespace specklescope {

namespace {

class Reader {
public:
    explicit Reader(const std::string& name) : name_(name) {}

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
    constexpr std::size_t kDepth = 6; // root, regions, region, points, point, and one too many
    return Reader(name).read(parse_json(text, name, kDepth));
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

} // namespace specklescope
