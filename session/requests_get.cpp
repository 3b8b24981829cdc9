// Requests that read settings, state and results.
#include "analysis/regions_file.hpp"
#include "net/publisher.hpp"
#include "pipeline/chain.hpp"
#include "session/answers.hpp"
#include "sources/registry.hpp"

#include <cmath>

namespace specklescope::requests {

namespace {

const char* kind_name(ParamKind kind) {
    switch (kind) {
    case ParamKind::boolean:
        return "boolean";
    case ParamKind::integer:
        return "integer";
    case ParamKind::real:
        return "real";
    case ParamKind::choice:
        return "choice";
    case ParamKind::text:
        return "text";
    case ParamKind::path:
        return "path";
    case ParamKind::action:
        break;
    }
    return "action";
}

Out stages() {
    Out all = Out::array();
    for (const StageType& stage : stage_types())
        all.push_back({{"name", stage.name},
                       {"title", stage.title},
                       {"group", title(stage.group)},
                       {"doc", stage.doc},
                       {"history", stage.stateful},
                       {"parameters", declarations(*stage.table)}});
    return all;
}

Out sources() {
    Out all = Out::array();
    for (const SourceType& source : source_types())
        all.push_back({{"kind", source.kind},
                       {"syntax", source.syntax},
                       {"doc", source.doc},
                       {"parameters", declarations(*source.table)}});
    return all;
}

Out request_names() {
    Out all = Out::array();
    for (const Request& row : all_requests())
        all.push_back({{"name", row.name}, {"doc", row.doc}});
    return all;
}

Out window_actions() {
    Out all = Out::array();
    for (const ActionInfo& action : actions())
        all.push_back({{"name", action.name},
                       {"doc", action.words},
                       {"group", action.group},
                       {"files", action.files == ActionFiles::writes  ? "writes"
                                 : action.files == ActionFiles::reads ? "reads"
                                                                      : "none"}});
    return all;
}

Out stage_json(const ChainStage& stage) {
    return {{"stage", stage.type->name}, {"bypass", stage.bypassed}, {"parameters", json_of(stage.params)}};
}

Out recordings(const Call& call) {
    Out all = Out::array();
    for (const Recording& recording : call.session.recordings.running()) {
        if (*recording.kind->request == '\0')
            continue;
        const SinkStatus status = recording.sink->status();
        Out one = {{"what", recording.kind->request}};
        if (!recording.of.empty())
            one["output"] = recording.of;
        one.update({{"file", status.path.empty() ? recording.path : status.path},
                    {"written", status.written},
                    {"dropped", status.dropped},
                    {"queued", status.queued}});
        if (!status.complete.empty())
            one["complete"] = status.complete;
        if (!status.error.empty())
            one["error"] = status.error;
        all.push_back(std::move(one));
    }
    return all;
}

Out header_of(const Result& result) {
    Out out;
    add_result(out, result); // as it is published
    return out;
}

/// Shape of pixels without padding between rows, in native byte order, with interleaved colours.
Out shape_json(const Shape& shape) {
    return {{"width", shape.width},
            {"height", shape.height},
            {"channels", shape.channels},
            {"type", to_string(shape.type)}};
}

Answer list(const Call& call) {
    const std::string of = call.arguments.value("of", "");
    Out out = Out::object();
    for (const auto& [name, make] : {std::pair<const char*, Out (*)()>{"stages", stages},
                                     {"sources", sources},
                                     {"view", [] { return declarations(view_table()); }},
                                     {"requests", request_names},
                                     {"actions", window_actions}})
        if (of.empty() || of == name)
            out[name] = make();
    return answered(out);
}

Answer get(const Call& call) {
    const Chain chain = call.session.chain();
    if (call.arguments.contains("stage")) {
        const ChainStage& stage = chain.stages()[stage_of(chain, call.arguments["stage"])];
        if (!call.arguments.contains("key"))
            return answered(stage_json(stage));
        return answered({{"value", json_of(stage.params.get(call.arguments["key"].get<std::string>()))}});
    }
    if (call.arguments.contains("key"))
        throw UsageError(
            "The request get has a key and no stage; name the stage, as speckle, or leave the key "
            "out.");
    const Pipeline& pipeline = call.pipeline();
    const PipelineStatus status = pipeline.status();
    const StreamInfo stream = pipeline.stream();
    Out out = {{"program", "Specklescope " SPECKLESCOPE_VERSION},
               {"source", stream.source_text},
               {"source_name", status.source.name},
               {"live", status.source.live},
               {"state", to_string(status.state)},
               {"message", status.message},
               {"paused", pipeline.paused()},
               {"seekable", status.source.seekable},
               {"length", status.source.length},
               {"backend", stream.backend},
               {"chain", to_string(chain)}};
    out["stages"] = Out::array();
    for (const ChainStage& stage : chain.stages())
        out["stages"].push_back(stage_json(stage));
    out["options"] = json_of(pipeline.source_params());
    out["view"] = json_of(call.session.settings().view);
    out["um_per_px"] = call.session.um_per_px(call.session.chain());
    if (const std::optional<Result> newest = call.front.newest(false))
        out["frame"] = header_of(*newest);
    if (call.session.baseline.taken()) {
        const std::string changed = call.session.baseline.changed(call.session.traces().overview());
        out["baseline"] = {{"valid", changed.empty()}, {"why_not", changed}};
    }
    out["recordings"] = recordings(call);
    return answered(out);
}

Answer stats(const Call& call) {
    const Out counted = Out::parse(to_json(call.pipeline().stats()), nullptr, false);
    return answered(
        {{"stats", counted}, {"recordings", recordings(call)}, {"doors", json_of(call.session.doors)}});
}

Answer messages(const Call& call) {
    Out all = Out::array();
    const auto now = SteadyClock::now();
    for (const Note& note : call.session.notices().list())
        all.push_back({{"level", note.level == Message::Level::info      ? "info"
                                 : note.level == Message::Level::warning ? "warning"
                                                                         : "error"},
                       {"text", note.text},
                       {"age_s", std::chrono::duration<double>(now - note.when).count()}});
    return answered({{"messages", std::move(all)}});
}

Answer frame(const Call& call) {
    const std::uint64_t version = call.arguments.value("version", std::uint64_t{0});
    if (version > 0)
        for (const RefusedEdit& refused : call.pipeline().refused(version - 1))
            if (refused.version == version)
                throw RunError(refused.why);
    const auto fits = [&](const std::optional<Result>& result) {
        return result && result->info.version >= version &&
               (!call.arguments.contains("after") ||
                result->info.sequence > call.arguments["after"].get<std::uint64_t>());
    };
    std::optional<Result> newest = newest_image(call, false);
    if (fits(newest))
        newest = newest_image(call, true); // which may bring pixels from a GPU
    if (!fits(newest)) {
        call.progress.check_time();
        return std::nullopt;
    }
    Out out = header_of(*newest);
    if (call.arguments.contains("output"))
        out["output"] = call.arguments["output"];
    out["chain"] = newest->chain ? to_string(*newest->chain) : "";
    out["quantity"] = newest->quantity.name;
    out["symbol"] = newest->quantity.symbol;
    out["unit"] = newest->quantity.unit;
    out["full_scale"] = newest->info.full_scale; // with it a chain of one's own gives the same bytes
    out["image"] = shape_json(newest->image.shape());
    std::vector<Frame> frames{newest->image};
    if (call.arguments.value("raw", false)) {
        out["raw"] = shape_json(newest->raw.shape());
        frames.push_back(newest->raw);
    }
    ControlReply reply = answered(out);
    reply.frames = std::move(frames);
    return reply;
}

} // namespace

ControlReply answered(const Out& more) {
    Out out = {{"ok", true}};
    out.update(more);
    return {out.dump(-1, ' ', false, Out::error_handler_t::replace)}; // names of files may be any bytes
}

RequestArgument shown_image() {
    return {"output", ArgumentType::text, false, "further image of the chain; without: the displayed one"};
}

std::optional<Result> newest_image(const Call& call, bool pixels) {
    std::optional<Result> newest = call.front.newest(pixels);
    const std::string output = call.arguments.value("output", "");
    if (output.empty() || !newest)
        return newest;
    (void)quantity_of_output(output, *call.pipeline().chain());
    std::optional<Result> named = named_result(*newest, output);
    if (named && pixels && !named->image) {
        call.pipeline().viewer_wants_host(true); // later results bring them
        return std::nullopt;
    }
    return named;
}

Out json_of(const ParamValue& value) {
    return std::visit([](const auto& one) { return Out(one); }, value);
}

Out json_of(const Params& params) {
    Out out = Out::object();
    if (params.has_table())
        for (const ParamDecl& decl : params.table().decls())
            out[decl.name] = json_of(params.get(decl.name));
    return out;
}

Out declarations(const ParamTable& table) {
    Out all = Out::array();
    for (const ParamDecl& decl : table.decls()) {
        Out one = {{"name", decl.name}, {"type", kind_name(decl.kind)}};
        if (!decl.unit.empty())
            one["unit"] = decl.unit;
        constexpr double kNoLimit = std::numeric_limits<double>::max();
        if (decl.kind == ParamKind::integer || decl.kind == ParamKind::real) {
            if (decl.min > -kNoLimit)
                one["min"] = decl.min;
            if (decl.max < kNoLimit)
                one["max"] = decl.max;
            if (decl.least > 0)
                one["least"] = decl.least;
        }
        if (!decl.choices.empty()) // of a text: any number of them, joined by "+"
            one["choices"] = decl.choices;
        one["default"] = json_of(decl.get(table.defaults()));
        one["doc"] = decl.doc;
        all.push_back(std::move(one));
    }
    return all;
}

std::vector<Request> reading_rows() {
    using Type = ArgumentType;
    return {
        {"list",
         "list stages, sources and the view with their parameters, requests, and the window's actions",
         {{"of", Type::choice, false, "only these", {"stages", "sources", "view", "requests", "actions"}}},
         list},
        {"get",
         "read source, chain, state, newest frame and recordings, or one parameter of a stage",
         {{"stage", Type::stage, false, "only one stage, by its name or its place from 0"},
          {"key", Type::text, false, "with stage: only one of its parameters"}},
         get},
        {"frame",
         "read the newest result: its header, and its pixels as the next part of the answer",
         {{"raw", Type::boolean, false, "the raw frame as one more part"},
          shown_image(),
          {"version", Type::whole, false,
           "wait for a result of this version, at most 10 s; for a refused edit the answer is why"},
          {"after", Type::whole, false, "wait for a larger sequence number, at most 10 s"}},
         frame},
        {"stats", "read all counters, recordings, and what each client of an output got", {}, stats},
        {"messages", "read the last messages: refused edits, ended recordings and why", {}, messages},
    };
}

} // namespace specklescope::requests
