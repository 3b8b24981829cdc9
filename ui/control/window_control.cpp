#include "ui/control/window_control.hpp"

#include "config/strange_source.hpp"
#include "ui/app.hpp"
#include "ui/presets/preset_edits.hpp"

namespace specklescope {

bool WindowControl::wanted(const Settings& settings) { return !output_of(settings, "control").empty(); }

WindowControl::WindowControl(App& app) : app_(app), server_(make_control(*this, wake_window)) {}

Session& WindowControl::session() { return app_.session_; }
Settings& WindowControl::settings() { return session().settings(); }

Pipeline& WindowControl::pipeline() {
    if (!session().pipeline())
        throw RunError("No source is open; open one in the window.");
    return *session().pipeline();
}

std::optional<Result> WindowControl::newest(bool pixels) {
    const Display& display = app_.display_;
    if (!display.has_result())
        return std::nullopt;
    return pixels ? display.host_result() : display.result();
}

std::vector<ControlMessage> WindowControl::messages() {
    std::vector<ControlMessage> all;
    for (const Note& note : session().notes())
        all.push_back({{note.level, note.text}, note.when});
    return all;
}

Doors WindowControl::doors() {
    Doors all = session().doors;
    all.control = counts();
    return all;
}

/// What a request names is a stranger's word; what the window has had open is its own.
void WindowControl::open(const std::string& source, bool recorded) {
    if (session().opening())
        throw RunError(Session::kOpening);
    std::optional<SourceArgument> wanted = session().known_source(source);
    if (!wanted) {
        wanted = SourceArgument(source);
        const std::string why = why_not_from_strangers(*wanted);
        if (!why.empty() && !settings().trusted)
            throw UsageError("The source '" + wanted->shown() + "' " + why +
                             "; if requests are to open such ones, start the program with --trust.");
    }
    session().open(*wanted, !recorded);
}

bool WindowControl::opened() {
    if (session().opening())
        return false;
    if (const std::exception_ptr failure = session().take_open_failure()) // the answer tells it, no dialog
        std::rethrow_exception(failure);
    return true;
}

Chain WindowControl::chain() {
    (void)pipeline();
    return session().chain();
}

std::uint64_t WindowControl::edit(std::size_t stage, const NamedValues& values) {
    Chain chain = session().chain();
    for (const auto& [key, value] : values)
        chain.stages().at(stage).params.set(key, value);
    return session().set_chain(std::move(chain));
}

std::uint64_t WindowControl::set_chain(Chain chain) { return session().set_chain(std::move(chain)); }

std::uint64_t WindowControl::take_preset(const PresetTaken& taken) {
    return specklescope::take_preset(session(), taken);
}

void WindowControl::edit_source(const std::string& key, const ParamValue& value) {
    session().edit_source(key, value);
}

double WindowControl::um_per_px() { return session().um_per_px(session().chain()); }
void WindowControl::set_um_per_px(double um) { session().set_um_per_px(um); }
std::vector<Region> WindowControl::regions() { return session().regions.regions(); }

void WindowControl::set_regions(std::vector<Region> regions) {
    session().regions.replace(std::move(regions)); // which can be undone
}

TraceHistory& WindowControl::traces() { return session().traces(); }
Baseline& WindowControl::baseline() { return session().baseline; }
EventMark WindowControl::mark(const std::string& label) { return session().add_event(label); }
const EventLog& WindowControl::events() { return session().events(); }
void WindowControl::relabel(std::uint64_t event, const std::string& label) {
    session().rename_event(event, label);
}
void WindowControl::unmark(std::uint64_t event) { session().remove_event(event); }

std::vector<Recording> WindowControl::recordings() { return session().recordings(); }

void WindowControl::begin_recording(const OutputKind& kind, const std::string& path) {
    session().record_to(kind, path);
}

std::shared_ptr<Sink> WindowControl::end_recording(const OutputKind& kind) {
    std::shared_ptr<Sink> running = session().end_recording(kind);
    return running ? running : session().ended.take(kind);
}

void WindowControl::act(Action action, const std::string& folder) {
    const std::string why = app_.why_not(action);
    if (!why.empty())
        throw UsageError("That is not possible now: " + why);
    if (folder.empty())
        return app_.run(action);
    app_.run_in(folder, action);
}

void WindowControl::quit() { app_.window_.request_close(); }

} // namespace specklescope
