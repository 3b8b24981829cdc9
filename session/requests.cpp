// The table of requests, and how a message becomes one of them.
#include "session/requests.hpp"

#include "base/error.hpp"
#include "config/text.hpp"
#include "files/json_object.hpp"
#include "session/answers.hpp"

#include <algorithm>

namespace specklescope {

namespace {

using requests::Json;
using Type = ArgumentType;

constexpr const char* kRequest = "request"; ///< the key of a request's name
constexpr std::size_t kMostQuoted = 60;     ///< bytes of a client's text in a sentence

std::string quoted(const std::string& text) {
    std::size_t end = std::min(text.size(), kMostQuoted);
    while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U)
        --end; // between characters
    return "'" + one_line(text.substr(0, end)) + (end < text.size() ? "…'" : "'");
}

std::vector<std::string> names_of(const std::vector<RequestArgument>& arguments) {
    std::vector<std::string> names;
    names.reserve(arguments.size());
    for (const RequestArgument& argument : arguments)
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

/// Description, JSON Schema declaration and check of a type.
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

bool fits(const RequestArgument& argument, const Json& value) {
    const auto& choices = argument.choices;
    return row_of(argument.type).fits(value) &&
           (argument.type != Type::choice ||
            std::find(choices.begin(), choices.end(), value.get<std::string>()) != choices.end());
}

std::string allowed(const RequestArgument& argument) {
    return argument.type == Type::choice ? join(argument.choices) : row_of(argument.type).allowed;
}

requests::Out schema_of(const RequestArgument& argument) {
    auto schema = requests::Out::parse(row_of(argument.type).schema);
    if (argument.type == Type::choice)
        schema["enum"] = argument.choices;
    if (argument.type == Type::regions)
        schema["items"]["properties"]["shape"]["enum"] = region_shape_names();
    schema["description"] = argument.doc;
    return schema;
}

void check(const Request& row, const Json& request) {
    for (const auto& [key, value] : request.items()) {
        if (key == kRequest)
            continue;
        const auto at = std::find_if(row.arguments.begin(), row.arguments.end(),
                                     [&, &key = key](const RequestArgument& a) { return a.name == key; });
        if (at == row.arguments.end())
            throw UsageError("The request " + row.name + " has no argument " + quoted(key) +
                             (row.arguments.empty() ? "; it has none."
                                                    : "; allowed: " + join(names_of(row.arguments)) + "."));
        if (!fits(*at, value))
            throw UsageError("The request " + row.name + ": " + key + " is " +
                             (value.is_string() ? quoted(value.get<std::string>()) : kind_of(value)) +
                             " here; allowed: " + allowed(*at) + ".");
    }
    for (const RequestArgument& argument : row.arguments)
        if (argument.required && !request.contains(argument.name))
            throw UsageError("The request " + row.name + " needs " + argument.name + ": " + argument.doc +
                             ".");
}

} // namespace

Pipeline& Call::pipeline() const {
    if (!session.pipeline())
        throw RunError("No source is open; open one in the window.");
    return *session.pipeline();
}

void RequestProgress::check_time() const {
    if (SteadyClock::now() - begun > std::chrono::seconds(10))
        throw RunError("No such result came within 10 s; look at get and messages, why.");
}

const std::vector<Request>& all_requests() {
    static const std::vector<Request> all = [] {
        std::vector<Request> rows = requests::reading_rows();
        for (auto more : {requests::keeping_rows(), requests::preset_rows(), requests::editing_rows()})
            rows.insert(rows.end(), more.begin(), more.end());
        return rows;
    }();
    return all;
}

ControlWork read_request(std::string_view message, Session& session, RequestFront& front) {
    auto request = std::make_shared<const Json>(json_object_in(message));
    if (!request->is_object() || !Json::accept(message))
        throw UsageError("This is not a JSON object, or it is deeper than " + std::to_string(kMaxJsonDepth) +
                         " levels; send one as {\"request\":\"get\"}.");
    const auto name = request->find(kRequest);
    if (name == request->end() || !name->is_string())
        throw UsageError("The message names no request; send one as {\"request\":\"get\"}.");
    const std::vector<Request>& rows = all_requests();
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Request& r) {
        return r.name == name->get_ref<const std::string&>();
    });
    if (row == rows.end()) {
        std::vector<std::string> names;
        names.reserve(rows.size());
        for (const Request& one : rows)
            names.push_back(one.name);
        throw UsageError("There is no request " + quoted(name->get<std::string>()) +
                         "; allowed: " + join(names) + ".");
    }
    check(*row, *request);
    return [&session, &front, &row = *row, request, progress = std::make_shared<RequestProgress>()] {
        return row.answer({session, front, *request, *progress});
    };
}

std::string control_schema() {
    requests::Out requests = requests::Out::array();
    for (const Request& row : all_requests()) {
        requests::Out properties = {{"request", {{"const", row.name}}}};
        requests::Out required = {"request"};
        for (const RequestArgument& argument : row.arguments) {
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
    const requests::Out schema = {
        {"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"title", "Specklescope " SPECKLESCOPE_VERSION ", requests of --control"},
        {"description", "The answer to each is an object with ok: true and what was asked for, or ok: false, "
                        "kind: usage (the request is wrong) or run, and error: a sentence."},
        {"oneOf", std::move(requests)}};
    return schema.dump(2) + "\n";
}

// --- the server ------------------------------------------------------------------------------------------

RequestServer::RequestServer(Session& session, RequestFront& front, void (*wake)())
    : session_(session), server_([&] {
          const auto& program = session.settings().program.as<ProgramSettings>();
          return ControlServer(
              output_of(session.settings(), "control"),
              [&session, &front](std::string_view message) { return read_request(message, session, front); },
              wake, load_curve_keys(program.curve_key, program.curve_clients));
      }()) {}

void RequestServer::poll() {
    session_.doors.control = server_.counts();
    server_.poll();
}

void RequestServer::close() {
    server_.close();
    session_.doors.control = server_.counts();
}

} // namespace specklescope
