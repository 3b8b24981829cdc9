// Requests that change processing or display.
#include "config/strange_source.hpp"
#include "config/text.hpp"
#include "pipeline/chain.hpp"
#include "session/answers.hpp"

#include <algorithm>
#include <utility>

namespace specklescope::requests {

namespace {

Answer version(std::uint64_t number) { return answered({{"version", number}}); }

/// Sets all values, each a text as on the command line, or none.
Answer set_all(const Call& call, const Json& stage, const Json& values) {
    Chain chain = call.session.chain();
    Params& params = chain.stages()[stage_of(chain, stage)].params;
    for (const auto& [key, value] : values.items())
        params.set_text(key, text_of(value));
    return version(call.session.apply(std::move(chain)));
}

/// A source named by a request is not trusted, unless the window has already opened it.
void begin_opening(const Call& call) {
    Session& session = call.session;
    if (!session.interactive())
        throw UsageError(
            "A run keeps the source that it was started with; another one can be opened in a window: "
            "start the program without run, with --offscreen where there is no display.");
    if (session.opening())
        throw RunError(Session::kOpening);
    const auto text = call.arguments["source"].get<std::string>();
    std::optional<SourceArgument> source = session.known_source(text);
    if (!source) {
        source = SourceArgument(text);
        const std::string why = why_not_from_strangers(*source);
        if (!why.empty() && !session.settings().trusted)
            throw UsageError("The source '" + source->shown() + "' " + why +
                             "; if requests are to open such ones, start the program with --trust.");
    }
    session.open(*source, !call.arguments.value("recorded", true));
}

Answer open_source(const Call& call) {
    if (!std::exchange(call.progress.opens, true))
        begin_opening(call);
    if (call.session.opening())
        return std::nullopt;
    if (const std::exception_ptr failure = call.session.take_open_failure()) // no dialog shows it then
        std::rethrow_exception(failure);
    const SourceInfo source = call.pipeline().status().source;
    return answered({{"source", call.pipeline().stream().source_text},
                     {"source_name", source.name},
                     {"live", source.live},
                     {"length", source.length},
                     {"chain", to_string(call.session.chain())}});
}

Answer set(const Call& call) {
    Json values;
    values[call.arguments["key"].get<std::string>()] = call.arguments["value"];
    return set_all(call, call.arguments["stage"], values);
}

Answer set_values(const Call& call) {
    return set_all(call, call.arguments["stage"], call.arguments["values"]);
}

Answer set_chain(const Call& call) {
    Chain chain = chain_from_text(call.arguments["chain"].get<std::string>());
    chain.keep_context(call.session.chain());
    return version(call.session.apply(std::move(chain)));
}

Answer bypass(const Call& call) {
    Chain chain = call.session.chain();
    chain.stages()[stage_of(chain, call.arguments["stage"])].bypassed = call.arguments.value("on", true);
    return version(call.session.apply(std::move(chain)));
}

Answer set_source(const Call& call) {
    Params options = call.pipeline().source_params();
    if (!options.has_table() || options.table().decls().empty())
        throw UsageError("The source " + call.pipeline().stream().source_text + " has no options; set none.");
    const auto key = call.arguments["key"].get<std::string>();
    options.set_text(key, text_of(call.arguments["value"]));
    call.pipeline().edit_source(key, options.get(key));
    return answered();
}

/// An end of the range makes the range fixed.
Answer set_view(const Call& call) {
    Settings changed = call.session.settings();
    const auto key = call.arguments["key"].get<std::string>();
    changed.view.set_text(key, text_of(call.arguments["value"]));
    if (key == "low" || key == "high")
        changed.view.set("automatic", false);
    if (key == "colormap") // also of images without contrast
        changed.view.set("image_colormap", changed.view.get("colormap"));
    check(changed);
    call.session.set_view(changed.view);
    return answered();
}

Answer scale(const Call& call) {
    Params program = call.session.settings().program;
    program.set("um_per_px", call.arguments["um_per_px"].get<double>());
    (void)call.pipeline();
    call.session.set_um_per_px(program.as<ProgramSettings>().um_per_px);
    return answered({{"um_per_px", call.session.um_per_px(call.session.chain())}});
}

Answer pause(const Call& call) {
    call.pipeline().pause(true);
    return answered();
}

Answer play(const Call& call) {
    call.pipeline().pause(false);
    return answered();
}

Answer step(const Call& call) {
    if (!call.pipeline().paused())
        throw UsageError("'step' works only while paused; send 'pause' first.");
    call.pipeline().step();
    return answered();
}

Answer seek(const Call& call) {
    Pipeline& pipeline = call.pipeline();
    if (call.progress.seek == 0) {
        const SourceInfo source = pipeline.status().source;
        const auto frame = call.arguments["frame"].get<std::uint64_t>();
        if (!source.seekable)
            throw UsageError("No frame of " + source.name +
                             " can be sought; open a file or a scene with live=false.");
        if (source.length > 0 && frame >= source.length)
            refuse_frame(source.name, frame, source.length);
        call.progress.seek = pipeline.seek(frame, call.arguments.value("warm", false));
    }
    if (const SeekFailure failure = pipeline.seek_failure(); failure.seek >= call.progress.seek)
        throw RunError(failure.why);
    const std::optional<Result> newest = call.front.newest(false);
    if (newest && newest->seek >= call.progress.seek)
        return answered();
    call.progress.check_time();
    return std::nullopt;
}

Answer act(const Call& call) {
    const auto name = call.arguments["action"].get<std::string>();
    const ActionInfo* action = find_action(name);
    if (!action) {
        const std::string near = suggestion(name, action_names());
        throw UsageError("There is no such action" +
                         (near.empty() ? "; send 'list' with of=actions for their names." : near));
    }
    call.front.act(action->action,
                   action->files == ActionFiles::none ? "" : folder_for_requests(call.session.settings()));
    return answered();
}

Answer quit(const Call& call) {
    call.front.quit();
    return answered();
}

} // namespace

std::size_t stage_of(const Chain& chain, const Json& wanted) {
    const std::vector<ChainStage>& stages = chain.stages();
    std::vector<std::string> names;
    names.reserve(stages.size());
    for (const ChainStage& stage : stages)
        names.emplace_back(stage.type->name);
    const std::string there = names.empty() ? "no stage" : join(names);
    if (wanted.is_number()) {
        const auto place = wanted.get<std::uint64_t>();
        if (place >= stages.size())
            throw UsageError("There is no stage at place " + std::to_string(place) +
                             " of the chain; it has, from 0: " + there + ".");
        return static_cast<std::size_t>(place);
    }
    const auto& name = wanted.get_ref<const std::string&>();
    (void)find_stage(name);
    const auto count = std::count(names.begin(), names.end(), name);
    if (count != 1)
        throw UsageError("The chain has " + std::to_string(count) + " stages " + name +
                         "; name one by its place from 0 of: " + there + ".");
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

std::string text_of(const Json& value) {
    if (value.is_number_float())
        return to_string(ParamValue(value.get<double>()));
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<Request> editing_rows() {
    using Type = ArgumentType;
    const RequestArgument stage{"stage", Type::stage, true,
                                "name of a stage of the chain, or its place from 0"};
    const RequestArgument key{"key", Type::text, true, "name of the parameter"};
    const RequestArgument value{"value", Type::value, true, "value as on the command line"};
    return {
        {"open",
         "open another source in the window; answered when it is open, or why it is not",
         {{"source", Type::text, true, "as on the command line"},
          {"recorded", Type::boolean, false,
           "false: show a recording with the present settings, not with those it was made with"}},
         open_source},
        {"set", "set a parameter of a stage from the next frame on", {stage, key, value}, set},
        {"set_values",
         "set several parameters of a stage from the same frame on; all or none",
         {stage, {"values", Type::values, true, "each name with its value, such as {\"radius\":5}"}},
         set_values},
        {"set_chain",
         "replace the stages",
         {{"chain", Type::text, true, "such as background:black=64 | speckle:radius=3; none: the raw image"}},
         set_chain},
        {"bypass",
         "bypass a stage",
         {stage, {"on", Type::boolean, false, "false: compute it again"}},
         bypass},
        {"set_source", "set an option of the source", {key, value}, set_source},
        {"set_view", "set layout, colours or range, as --view does", {key, value}, set_view},
        {"scale",
         "set the size of a pixel of the results",
         {{"um_per_px", Type::number, true, "side of a pixel in µm; 0: as the source says"}},
         scale},
        {"pause", "pause a file; of a camera only the display", {}, pause},
        {"play", "continue after pause", {}, play},
        {"step", "show the next frame of a paused file", {}, step},
        {"seek",
         "continue a file at another frame; answered when that is the newest, or why it did not come",
         {{"frame", Type::whole, true, "counted from 0"},
          {"warm", Type::boolean, false, "fill histories with the frames before it"}},
         seek},
        {"act",
         "run an action of the window",
         {{"action", Type::text, true,
           "name, from list; actions on files need --control-folder and use files there"}},
         act},
        {"quit", "end the program and finish recordings", {}, quit},
    };
}

} // namespace specklescope::requests
