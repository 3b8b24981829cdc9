// The table of requests, and how a message becomes one of them.
#include "config/control/requests.hpp"

#include "base/error.hpp"
#include "config/control/answers.hpp"
#include "config/text.hpp"
#include "files/json_object.hpp"

#include <algorithm>

namespace specklescope {

namespace {

using control::Json;
using Type = ControlType;

constexpr const char* kRequest = "request"; ///< the key of a request's name
constexpr std::size_t kMostQuoted = 60;     ///< bytes of a client's text in a sentence

std::string quoted(const std::string& text) {
    std::size_t end = std::min(text.size(), kMostQuoted);
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U)
        --end; // between characters
    return "'" + one_line(text.substr(0, end)) + (end < text.size() ? "…'" : "'");
}

std::vector<std::string> names_of(const std::vector<ControlArgument>& arguments) {
    std::vector<std::string> names;
    names.reserve(arguments.size());
    for (const ControlArgument& argument : arguments)
        names.push_back(argument.name);
    return names;
}

const char* kind_of(const Json& value) {
    return value.is_string()           ? "a text"
           : value.is_boolean()        ? "true or false"
           : value.is_number_integer() ? "a whole number"
           : value.is_number()         ? "a number"
           : value.is_array()          ? "a list"
           : value.is_null()           ? "null"
                                       : "an object";
}

bool is_place(const Json& value) {
    return value.is_number_unsigned() || (value.is_number_integer() && value.get<std::int64_t>() >= 0);
}

bool is_value(const Json& value) { return value.is_string() || value.is_boolean() || value.is_number(); }

/// How a type is described, declared in JSON Schema and checked.
struct TypeRow {
    Type type;
    const char *allowed, *schema;
    bool (*fits)(const Json&);
};
constexpr TypeRow kTypes[] = {
    {Type::text, "a text", R"({"type":"string"})", [](const Json& value) { return value.is_string(); }},
    {Type::choice, "", "{}", [](const Json& value) { return value.is_string(); }},
    {Type::boolean, "true, false", R"({"type":"boolean"})",
     [](const Json& value) { return value.is_boolean(); }},
    {Type::whole, "a whole number from 0", R"({"type":"integer","minimum":0})", is_place},
    {Type::number, "a number", R"({"type":"number"})", [](const Json& value) { return value.is_number(); }},
    {Type::value, "a text, a number, true or false", R"({"type":["string","number","boolean"]})", is_value},
    {Type::values, "an object with a text, a number, true or false for each of its parameters",
     R"({"type":"object","additionalProperties":{"type":["string","number","boolean"]},"minProperties":1})",
     [](const Json& value) {
         return value.is_object() && !value.empty() && std::all_of(value.begin(), value.end(), is_value);
     }},
    {Type::stage, "the name of a stage, or its place in the chain from 0",
     R"({"anyOf":[{"type":"string"},{"type":"integer","minimum":0}]})",
     [](const Json& value) { return value.is_string() || is_place(value); }},
    {Type::regions, "a list of regions, as in a file of regions",
     R"({"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"shape":{},)"
     R"("points":{"type":"array"},"colour":{"type":"string"},"locked":{"type":"boolean"}},)"
     R"("required":["name","shape","points"]}})",
     [](const Json& value) { return value.is_array(); }}};

const TypeRow& row_of(Type type) {
    return *std::find_if(std::begin(kTypes), std::end(kTypes),
                         [&](const TypeRow& row) { return row.type == type; });
}

bool fits(const ControlArgument& argument, const Json& value) {
    const auto& choices = argument.choices;
    return row_of(argument.type).fits(value) &&
           (argument.type != Type::choice ||
            std::find(choices.begin(), choices.end(), value.get<std::string>()) != choices.end());
}

std::string allowed(const ControlArgument& argument) {
    return argument.type == Type::choice ? join(argument.choices) : row_of(argument.type).allowed;
}

control::Out schema_of(const ControlArgument& argument) {
    auto schema = control::Out::parse(row_of(argument.type).schema);
    if (argument.type == Type::choice)
        schema["enum"] = argument.choices;
    if (argument.type == Type::regions)
        schema["items"]["properties"]["shape"]["enum"] = region_shape_names();
    schema["description"] = argument.doc;
    return schema;
}

void check(const ControlRow& row, const Json& request) {
    for (const auto& [key, value] : request.items()) {
        if (key == kRequest)
            continue;
        const auto at = std::find_if(row.arguments.begin(), row.arguments.end(),
                                     [&, &key = key](const ControlArgument& a) { return a.name == key; });
        if (at == row.arguments.end())
            throw UsageError("The request " + row.name + " has no argument " + quoted(key) +
                             (row.arguments.empty() ? "; it has none."
                                                    : "; allowed: " + join(names_of(row.arguments)) + "."));
        if (!fits(*at, value))
            throw UsageError("The request " + row.name + ": " + key + " is " +
                             (value.is_string() ? quoted(value.get<std::string>()) : kind_of(value)) +
                             " here; allowed: " + allowed(*at) + ".");
    }
    for (const ControlArgument& argument : row.arguments)
        if (argument.required && !request.contains(argument.name))
            throw UsageError("The request " + row.name + " needs " + argument.name + ": " + argument.doc +
                             ".");
}

ControlArgument optional(ControlArgument argument, std::string doc) {
    argument.required = false;
    argument.doc = std::move(doc);
    return argument;
}

std::vector<ControlRow> make_rows() {
    using namespace control;
    const ControlArgument stage{"stage", Type::stage, true,
                                "the name of a stage of the chain, or its place from 0"};
    const ControlArgument key{"key", Type::text, true, "the name of the parameter"};
    const ControlArgument value{"value", Type::value, true, "its value, as on the command line"};
    const ControlArgument file{"file", Type::text, true,
                               "its name in the folder of --control-folder; the ending says the format"};
    const ControlArgument event{"event", Type::whole, true, "its number, as mark and events tell it"};
    const ControlArgument what{"what", Type::choice, true, "what is recorded", record_names()};
    return {
        {"list",
         "what there is: stages, sources and the view with their parameters, requests, the window's actions",
         {{"of",
           Type::choice,
           false,
           "of these alone",
           {"stages", "sources", "view", "requests", "actions"}}},
         list},
        {"get",
         "what is: source, chain, state, newest frame, recordings; or one parameter of a stage",
         {optional(stage, "one stage alone, by its name, or its place from 0"),
          optional(key, "with stage: one of its parameters alone")},
         get},
        {"open",
         "another source in the window, in place of the one that runs; answers when it is open, or why it is "
         "not",
         {{"source", Type::text, true, "as on the command line"},
          {"recorded", Type::boolean, false,
           "false: a recording is shown with the settings as they are, not with those it was made with"}},
         open_source},
        {"set", "a parameter of a stage, from the next frame on", {stage, key, value}, set},
        {"set_values",
         "several parameters of a stage from the same frame on, or none of them where one is refused",
         {stage, {"values", Type::values, true, "of each its name and its value, as {\"radius\":5}"}},
         set_values},
        {"set_chain",
         "other stages",
         {{"chain", Type::text, true, "as background:black=64 | speckle:radius=3; none: the raw picture"}},
         control::set_chain},
        {"bypass",
         "a stage stays in its place and is not computed",
         {stage, {"on", Type::boolean, false, "false: it is computed again"}},
         bypass},
        {"set_source", "an option of the source", {key, value}, set_source},
        {"set_view", "what --view sets: layout, colours, range", {key, value}, set_view},
        {"presets",
         "chains with range and colours, by name: of the program, yours, and in the folder",
         {},
         control::presets},
        {"load_preset",
         "chain, range and colours of a preset",
         {{"name", Type::text, true, "its name, as presets tells it"}},
         control::load_preset},
        {"save_preset",
         "chain, range and colours as they are set, as a preset in the folder of --control-folder",
         {{"name", Type::text, true, "letters, digits, '-' and '_'; one that is taken gets a number"},
          {"doc", Type::text, false, "a line about it"}},
         control::save_preset},
        {"scale",
         "how large a pixel of the results is",
         {{"um_per_px", Type::number, true, "a side of it in µm; 0: as the source says"}},
         scale},
        {"pause", "a file stands still; of a camera the picture", {}, pause},
        {"play", "it goes on", {}, play},
        {"step", "one frame of a file that is paused", {}, step},
        {"seek",
         "a file goes on at another frame; answers when that is the newest, or why it did not come",
         {{"frame", Type::whole, true, "counted from 0"},
          {"warm", Type::boolean, false, "histories are filled with the frames before it"}},
         seek},
        {"record", "begins a recording", {what, file}, record},
        {"stop", "ends a recording, and answers when its file is complete", {what}, stop_recording},
        {"snapshot", "the newest result as a picture", {file}, snapshot},
        {"mark",
         "an event at the newest frame",
         {{"label", Type::text, false, "what it is; without: a number"}},
         control::mark},
        {"events", "what has been marked", {}, events},
        {"relabel",
         "another label for an event",
         {event, {"label", Type::text, true, "what it is"}},
         relabel},
        {"unmark", "an event is taken back", {event}, unmark},
        {"regions", "the regions, as a file of regions has them", {}, control::regions},
        {"set_regions",
         "other regions",
         {{"regions", Type::regions, true, "each with name, shape and points; an empty list: none"}},
         control::set_regions},
        {"baseline",
         "takes F₀ of each region: its mean over the last seconds",
         {{"seconds", Type::number, false, "how long; without: baseline_s of the view"}},
         control::baseline},
        {"frame",
         "the newest result: its header, and its pixels as the next part of the answer",
         {{"raw", Type::boolean, false, "the raw frame as one more part"},
          {"version", Type::whole, false,
           "not before a result of this version is there (10 s at most); of a refused edit: why it was "
           "refused"},
          {"after", Type::whole, false,
           "not before a frame with a larger sequence number is there (10 s at most)"}},
         frame},
        {"stats",
         "everything that is counted, the recordings, and what went out through each door, by client",
         {},
         control::stats},
        {"messages",
         "what was said last: edits that were refused, recordings that have ended and why",
         {},
         messages},
        {"act",
         "what a key of the window does",
         {{"action", Type::text, true,
           "its name, as list tells them; those about files need --control-folder, and are about files "
           "there"}},
         act},
        {"quit", "ends the program in order: recordings are finished", {}, quit},
    };
}

} // namespace

void ControlProgress::give_up_in_time() const {
    if (SteadyClock::now() - begun > std::chrono::seconds(10))
        throw RunError("No such result came within 10 s; look at get and messages, why.");
}

const std::vector<ControlRow>& control_rows() {
    static const std::vector<ControlRow> rows = make_rows();
    return rows;
}

ControlWork read_request(std::string_view message, ControlHost& host) {
    auto request = std::make_shared<const Json>(json_object_in(message));
    if (!request->is_object() || !Json::accept(message))
        throw UsageError("This is no JSON object, or one that is deeper than " +
                         std::to_string(kMaxJsonDepth) + " levels; send one as {\"request\":\"get\"}.");
    const auto name = request->find(kRequest);
    if (name == request->end() || !name->is_string())
        throw UsageError("The message names no request; send one as {\"request\":\"get\"}.");
    const auto& rows = control_rows();
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const ControlRow& r) {
        return r.name == name->get_ref<const std::string&>();
    });
    if (row == rows.end()) {
        std::vector<std::string> names;
        names.reserve(rows.size());
        for (const ControlRow& one : rows)
            names.push_back(one.name);
        throw UsageError("There is no request " + quoted(name->get<std::string>()) +
                         "; allowed: " + join(names) + ".");
    }
    check(*row, *request);
    return [&host, &row = *row, request, progress = std::make_shared<ControlProgress>()] {
        return row.answer(host, *request, *progress);
    };
}

std::string control_schema() {
    control::Out requests = control::Out::array();
    for (const ControlRow& row : control_rows()) {
        control::Out properties = {{"request", {{"const", row.name}}}};
        control::Out required = {"request"};
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
    const control::Out schema = {
        {"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"title", "Specklescope " SPECKLESCOPE_VERSION ", requests of --control"},
        {"description", "The answer to each is an object with ok: true and what was asked for, or ok: false, "
                        "kind: usage (the request is wrong) or run, and error: a sentence."},
        {"oneOf", std::move(requests)}};
    return schema.dump(2) + "\n";
}

std::unique_ptr<ControlServer> make_control(ControlHost& host, void (*wake)()) {
    const auto& program = host.settings().program.as<ProgramSettings>();
    const std::string address = output_of(host.settings(), "control");
    if (address.empty())
        return nullptr;
    return std::make_unique<ControlServer>(
        address, [&host](std::string_view message) { return read_request(message, host); }, wake,
        load_curve_keys(program.curve_key, program.curve_clients));
}

} // namespace specklescope
