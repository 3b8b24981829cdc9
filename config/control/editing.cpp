// Requests that change what is computed or shown.
#include "config/control/answers.hpp"
#include "config/text.hpp"
#include "pipeline/chain.hpp"

#include <algorithm>
#include <utility>

namespace specklescope::control {

namespace {

Answer version(std::uint64_t number) { return told({{"version", number}}); }

/// `values` holds one of each name, as check() of requests.cpp wants it.
Answer set_all(ControlHost& host, const Json& stage, const Json& values) {
    Chain chain = host.chain();
    const std::size_t place = stage_of(chain, stage);
    Params& params = chain.stages()[place].params;
    NamedValues named;
    for (const auto& [key, value] : values.items()) {
        params.set_text(key, text_of(value));
        named.emplace_back(key, params.get(key));
    }
    (void)settled(chain);
    return version(host.edit(place, named));
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

Answer open_source(ControlHost& host, const Json& a, ControlProgress& progress) {
    if (!std::exchange(progress.opens, true))
        host.open(a["source"].get<std::string>(), a.value("recorded", true));
    if (!host.opened())
        return std::nullopt;
    const SourceInfo source = host.pipeline().status().source;
    return told({{"source", host.pipeline().stream().source_text},
                 {"source_name", source.name},
                 {"live", source.live},
                 {"length", source.length},
                 {"chain", to_string(host.chain())}});
}

Answer set(ControlHost& host, const Json& a, ControlProgress&) {
    Json values;
    values[a["key"].get<std::string>()] = a["value"];
    return set_all(host, a["stage"], values);
}

Answer set_values(ControlHost& host, const Json& a, ControlProgress&) {
    return set_all(host, a["stage"], a["values"]);
}

Answer set_chain(ControlHost& host, const Json& a, ControlProgress&) {
    Chain chain = chain_from_text(a["chain"].get<std::string>());
    const Chain now = host.chain();
    chain.set_input(now.input());
    chain.set_channel(now.channel());
    (void)settled(chain);
    return version(host.set_chain(std::move(chain)));
}

Answer bypass(ControlHost& host, const Json& a, ControlProgress&) {
    Chain chain = host.chain();
    chain.stages()[stage_of(chain, a["stage"])].bypassed = a.value("on", true);
    (void)settled(chain);
    return version(host.set_chain(std::move(chain)));
}

Answer set_source(ControlHost& host, const Json& a, ControlProgress&) {
    Params options = host.pipeline().source_params();
    if (!options.has_table() || options.table().decls().empty())
        throw UsageError("The source " + host.pipeline().stream().source_text + " has no options; set none.");
    const auto key = a["key"].get<std::string>();
    options.set_text(key, text_of(a["value"]));
    host.edit_source(key, options.get(key));
    return told();
}

/// Who gives an end of the range means a fixed one.
Answer set_view(ControlHost& host, const Json& a, ControlProgress&) {
    Settings changed = host.settings();
    const auto key = a["key"].get<std::string>();
    changed.view.set_text(key, text_of(a["value"]));
    if (key == "low" || key == "high")
        changed.view.set("automatic", false);
    check(changed);
    host.set_view(changed.view);
    return told();
}

Answer scale(ControlHost& host, const Json& a, ControlProgress&) {
    Params program = host.settings().program;
    program.set("um_per_px", a["um_per_px"].get<double>());
    (void)host.pipeline();
    host.set_um_per_px(program.as<ProgramSettings>().um_per_px);
    return told({{"um_per_px", host.um_per_px()}});
}

Answer pause(ControlHost& host, const Json&, ControlProgress&) {
    host.pipeline().pause(true);
    return told();
}

Answer play(ControlHost& host, const Json&, ControlProgress&) {
    host.pipeline().pause(false);
    return told();
}

Answer step(ControlHost& host, const Json&, ControlProgress&) {
    if (!host.pipeline().paused())
        throw UsageError("A frame at a time is for what is paused; ask for pause first.");
    host.pipeline().step();
    return told();
}

Answer seek(ControlHost& host, const Json& a, ControlProgress& progress) {
    Pipeline& pipeline = host.pipeline();
    if (progress.seek == 0) {
        const SourceInfo source = pipeline.status().source;
        const auto frame = a["frame"].get<std::uint64_t>();
        if (!source.seekable)
            throw UsageError("No frame of " + source.name +
                             " can be sought; open a file or a scene with live=false.");
        if (source.length > 0 && frame >= source.length)
            refuse_frame(source.name, frame, source.length);
        progress.seek = pipeline.seek(frame, a.value("warm", false));
    }
    if (const SeekFailure failure = pipeline.seek_failure(); failure.seek >= progress.seek)
        throw RunError(failure.why);
    const std::optional<Result> newest = host.newest(false);
    if (newest && newest->seek >= progress.seek)
        return told();
    progress.give_up_in_time();
    return std::nullopt;
}

Answer act(ControlHost& host, const Json& a, ControlProgress&) {
    const auto name = a["action"].get<std::string>();
    const ActionInfo* action = find_action(name);
    if (!action) {
        const std::string near = suggestion(name, action_names());
        throw UsageError("There is no such action" +
                         (near.empty() ? "; list tells them, of actions." : near));
    }
    host.act(action->action, action->files == ActionFiles::none ? "" : folder_for_requests(host.settings()));
    return told();
}

Answer quit(ControlHost& host, const Json&, ControlProgress&) {
    host.quit();
    return told();
}

} // namespace specklescope::control
