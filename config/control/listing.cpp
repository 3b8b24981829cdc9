// What there is and what is, told to other programs.
#include "analysis/regions_file.hpp"
#include "config/control/answers.hpp"
#include "net/publisher.hpp"
#include "pipeline/chain_text.hpp"
#include "sources/registry.hpp"

#include <cmath>

namespace specklescope::control {

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

Out requests() {
    Out all = Out::array();
    for (const ControlRow& row : control_rows())
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

Out recordings(ControlHost& host) {
    Out all = Out::array();
    for (const Recording& recording : host.recordings()) {
        if (*recording.kind->request == '\0')
            continue;
        const SinkStatus status = recording.sink->status();
        Out one = {{"what", recording.kind->request},
                   {"file", status.path.empty() ? recording.path : status.path},
                   {"written", status.written},
                   {"dropped", status.dropped},
                   {"queued", status.queued}};
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

/// Without padding between rows, samples in this machine's order of bytes, colour interleaved.
Out shape_json(const Shape& shape) {
    return {{"width", shape.width},
            {"height", shape.height},
            {"channels", shape.channels},
            {"type", to_string(shape.type)}};
}

} // namespace

ControlReply told(const Out& more) {
    Out out = {{"ok", true}};
    out.update(more);
    return {out.dump(-1, ' ', false, Out::error_handler_t::replace)}; // names of files may be any bytes
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
        if (decl.kind == ParamKind::choice)
            one["choices"] = decl.choices;
        one["default"] = json_of(decl.get(table.defaults()));
        one["doc"] = decl.doc;
        all.push_back(std::move(one));
    }
    return all;
}

Answer list(ControlHost&, const Json& a, ControlProgress&) {
    const std::string of = a.value("of", "");
    Out out = Out::object();
    for (const auto& [name, make] : {std::pair<const char*, Out (*)()>{"stages", stages},
                                     {"sources", sources},
                                     {"view", [] { return declarations(view_table()); }},
                                     {"requests", requests},
                                     {"actions", window_actions}})
        if (of.empty() || of == name)
            out[name] = make();
    return told(out);
}

Answer get(ControlHost& host, const Json& a, ControlProgress&) {
    const Chain chain = host.chain();
    if (a.contains("stage")) {
        const ChainStage& stage = chain.stages()[stage_of(chain, a["stage"])];
        if (!a.contains("key"))
            return told(stage_json(stage));
        return told({{"value", json_of(stage.params.get(a["key"].get<std::string>()))}});
    }
    if (a.contains("key"))
        throw UsageError(
            "The request get has a key and no stage; name the stage, as speckle, or leave the key "
            "out.");
    const Pipeline& pipeline = host.pipeline();
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
    out["view"] = json_of(host.settings().view);
    out["um_per_px"] = host.um_per_px();
    if (const std::optional<Result> newest = host.newest(false))
        out["frame"] = header_of(*newest);
    if (host.baseline().taken()) {
        const std::string changed = host.baseline().changed(host.traces().overview());
        out["baseline"] = {{"valid", changed.empty()}, {"why_not", changed}};
    }
    out["recordings"] = recordings(host);
    return told(out);
}

Answer stats(ControlHost& host, const Json&, ControlProgress&) {
    const Out counted = Out::parse(to_json(host.pipeline().stats()), nullptr, false);
    return told({{"stats", counted}, {"recordings", recordings(host)}, {"doors", json_of(host.doors())}});
}

Answer messages(ControlHost& host, const Json&, ControlProgress&) {
    Out all = Out::array();
    const auto now = SteadyClock::now();
    for (const ControlMessage& one : host.messages())
        all.push_back({{"level", one.message.level == Message::Level::info      ? "info"
                                 : one.message.level == Message::Level::warning ? "warning"
                                                                                : "error"},
                       {"text", one.message.text},
                       {"age_s", std::chrono::duration<double>(now - one.when).count()}});
    return told({{"messages", std::move(all)}});
}

Answer frame(ControlHost& host, const Json& a, ControlProgress& progress) {
    const std::uint64_t version = a.value("version", std::uint64_t{0});
    if (version > 0)
        for (const RefusedEdit& refused : host.pipeline().refused(version - 1))
            if (refused.version == version)
                throw RunError(refused.why);
    const auto fits = [&](const std::optional<Result>& result) {
        return result && result->info.version >= version &&
               (!a.contains("after") || result->info.sequence > a["after"].get<std::uint64_t>());
    };
    std::optional<Result> newest = host.newest(false);
    if (fits(newest))
        newest = host.newest(true); // which may bring pixels from a GPU
    if (!fits(newest)) {
        progress.give_up_in_time();
        return std::nullopt;
    }
    Out out = header_of(*newest);
    out["chain"] = newest->chain ? to_string(*newest->chain) : "";
    out["quantity"] = newest->quantity.name;
    out["symbol"] = newest->quantity.symbol;
    out["unit"] = newest->quantity.unit;
    out["full_scale"] = newest->info.full_scale; // with it a chain of one's own gives the same bytes
    out["image"] = shape_json(newest->image.shape());
    std::vector<Frame> frames{newest->image};
    if (a.value("raw", false)) {
        out["raw"] = shape_json(newest->raw.shape());
        frames.push_back(newest->raw);
    }
    ControlReply reply = told(out);
    reply.frames = std::move(frames);
    return reply;
}

} // namespace specklescope::control
