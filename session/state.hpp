// State that the parts of a session share: settings, pipeline, messages and background work.
#pragma once

#include "analysis/region_editor.hpp"
#include "config/settings.hpp"
#include "pipeline/pipeline.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace specklescope {

/// A message with its time, for the list of messages.
struct Note {
    Message::Level level = Message::Level::info;
    std::string text;
    SteadyClock::time_point when;
    bool logged = false; ///< the log has it already
    bool failed_recording = false;
    bool alarm = false; ///< shown on the picture anyway: not shown as a passing message
};
/// Makes a note with the present time.
Note note(Message::Level level, std::string text);

/// Messages, and work in background threads that ends with a message. The calls are for the main thread.
class Notices {
public:
    /// `wake` is called from any thread when poll() has something to take.
    void wake_with(void (*wake)()) {
        wake_ = wake ? wake : [] {};
    }
    void wake() const { wake_(); }
    void (*wake_call() const)() { return wake_; }
    /// Adds a message to the log and the list.
    void say(Message::Level level, std::string text);
    /// Adds a note to the list only.
    void add(Note note);
    /// The end of some work: to the list, and to the log unless it is logged already. A failed recording
    /// becomes an alarm; an empty text is not reported.
    void take(Note done);
    /// Runs `work` in a separate thread. poll() takes its note; an empty text is not reported.
    void run(std::function<Note()> work);
    /// Takes the notes of finished work.
    void poll();
    /// Waits for all work; its notes go to the log.
    void finish();
    const std::deque<Note>& list() const { return list_; } ///< the newest 60
    std::size_t count() const { return count_; }           ///< of all notes so far
    bool recording_failed() const { return recording_failed_; }
    /// Errors of failed recordings, until the user has acknowledged them.
    std::deque<std::string> failed_recordings;

private:
    void (*wake_)() = [] {};
    std::deque<Note> list_;
    std::size_t count_ = 0;
    std::vector<std::future<Note>> work_;
    std::atomic<bool> recording_failed_ = false; ///< set by background work
};

struct SessionState {
    Settings settings;
    std::shared_ptr<Pipeline> pipeline; ///< null: before start(), after close()
    Notices notices;
    RegionEditor regions;    ///< as edited; Session::poll() hands changes to the pipeline
    bool interactive = true; ///< a user watches and starts outputs; otherwise the settings do

    const ViewSettings& view() const { return settings.view.as<ViewSettings>(); }
    ViewSettings& view() { return settings.view.as<ViewSettings>(); }
    const ProgramSettings& program() const { return settings.program.as<ProgramSettings>(); }
    bool running() const { return pipeline && pipeline->started(); }
};

} // namespace specklescope
