// Processes the whole film of a session in the background: from its first frame to its last, as fast as it
// goes, with the present chain, regions, channel and backend, without touching the display.
#pragma once

#include "analysis/trace_history.hpp"
#include "session/state.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace specklescope {

/// All calls are for the main thread.
class WholeFilm {
public:
    enum class Outcome : std::uint8_t { done, cancelled, failed };
    struct Job {
        /// Outputs that get every result. They are opened before the first frame and closed with the last.
        std::vector<std::shared_ptr<Sink>> sinks{};
        /// Called by poll() when the sinks are closed, instead of a message; `text` is a sentence. May be
        /// null.
        std::function<void(Outcome outcome, const std::string& text)> over{};
    };
    struct Progress {
        std::uint64_t frames = 0, total = 0; ///< total 0: unknown
        double part() const {
            return total > 0 ? std::min(1.0, static_cast<double>(frames) / static_cast<double>(total)) : 0;
        }
    };

    WholeFilm(SessionState& state, std::shared_ptr<TraceHistory> traces)
        : state_(state), traces_(std::move(traces)) {}
    ~WholeFilm() { stop(); }
    WholeFilm(const WholeFilm&) = delete;
    WholeFilm& operator=(const WholeFilm&) = delete;

    /// Why it cannot start: no film is open, or one is being processed. Empty: it can.
    std::string why_not() const;
    /// Opens the film a second time and runs it. Throws UsageError or RunError if it cannot start. A film
    /// that cannot be read to its end and a sink that fails end it early and are reported.
    void start(Job job);
    void start() { start(Job()); }
    /// Ends it early; poll() reports it when the sinks are closed. `why`: a sentence for the message.
    void cancel(std::string why = "");
    /// Reports the end. Cancels when chain, regions, options or source of the session are edited: a curve is
    /// of one setting.
    void poll();
    /// Cancels, waits and reports.
    void stop() noexcept;
    bool running() const { return work_.valid(); }
    Progress progress() const; ///< Progress of the present run, or of the last one.

private:
    struct Run;
    bool edited() const;
    void conclude();
    void report(Outcome outcome, const std::string& text);

    SessionState& state_;
    const std::shared_ptr<TraceHistory> traces_;
    Job job_;
    std::shared_ptr<Run> run_;      ///< of the last start()
    std::future<std::string> work_; ///< the error; empty: none
    std::string cancelled_;         ///< why; empty: it is not
};

} // namespace specklescope
