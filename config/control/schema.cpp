#include "config/control/schema.hpp"

#include "config/control/answers.hpp"

namespace specklescope {

namespace {

using control::Out;

Out schema_of(const ControlArgument& argument) {
    Out out;
    switch (argument.type) {
    case ControlType::text:
        out["type"] = "string";
        break;
    case ControlType::choice:
        out["enum"] = argument.choices;
        break;
    case ControlType::boolean:
        out["type"] = "boolean";
        break;
    case ControlType::whole:
        out = {{"type", "integer"}, {"minimum", 0}};
        break;
    case ControlType::number:
        out["type"] = "number";
        break;
    case ControlType::value:
        out["type"] = {"string", "number", "boolean"};
        break;
    case ControlType::values:
        out = {{"type", "object"},
               {"additionalProperties", {{"type", {"string", "number", "boolean"}}}},
               {"minProperties", 1}};
        break;
    case ControlType::stage:
        out["anyOf"] = {{{"type", "string"}}, {{"type", "integer"}, {"minimum", 0}}};
        break;
    case ControlType::regions:
        out = {{"type", "array"},
               {"items",
                {{"type", "object"},
                 {"properties",
                  {{"name", {{"type", "string"}}},
                   {"shape", {{"enum", region_shape_names()}}},
                   {"points", {{"type", "array"}}},
                   {"colour", {{"type", "string"}}},
                   {"locked", {{"type", "boolean"}}}}},
                 {"required", {"name", "shape", "points"}}}}};
        break;
    }
    out["description"] = argument.doc;
    return out;
}

} // namespace

std::string control_schema() {
    Out requests = Out::array();
    for (const ControlRow& row : control_rows()) {
        Out properties = {{"request", {{"const", row.name}}}};
        Out required = {"request"};
        for (const ControlArgument& argument : row.arguments) {
            properties[argument.name] = schema_of(argument);
            if (argument.required)
                required.push_back(argument.name);
        }
        requests.push_back({{"title", row.name},
                            {"description", row.doc},
                            {"type", "object"},
                            {"properties", std::move(properties)},
                            {"required", std::move(required)},
                            {"additionalProperties", false}});
    }
    const Out schema = {
        {"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"title", "Specklescope " SPECKLESCOPE_VERSION ", requests of --control"},
        {"description", "The answer to each is an object with ok: true and what was asked for, or ok: false, "
                        "kind: usage (the request is wrong) or run, and error: a sentence."},
        {"oneOf", std::move(requests)}};
    return schema.dump(2) + "\n";
}

} // namespace specklescope
