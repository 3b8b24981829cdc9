// Files that a user saves of a whole film and of its curves: the table of traces, results, movies and plots.
// A film is processed from its first frame to its last in the background (whole_film.hpp).
#pragma once

#include "analysis/baseline.hpp"
#include "analysis/events.hpp"
#include "recording/draw/plot.hpp"
#include "session/picture_baseline.hpp"
#include "session/recordings.hpp"
#include "session/whole_film.hpp"

#include <memory>
#include <string>
#include <vector>

namespace specklescope {

/// Values of all regions for the frames of a time range, at most about `most` of them, evenly chosen.
std::vector<TraceValues> frames_between(TraceHistory& history, std::int64_t from_ns, std::int64_t to_ns,
                                        int most);

class Exports {
public:
    enum class Film : std::uint8_t { results, change, screen };

    struct Parts { ///< of the session
        SessionState& state;
        Recordings& recordings;
        WholeFilm& film;
        const PictureBaseline& baseline;
        const Baseline& of_regions;
        std::shared_ptr<TraceHistory> traces;
        std::shared_ptr<LiveLook> look;
    };
    explicit Exports(Parts parts) : parts_(std::move(parts)) {}

    /// Writes the table of traces. A film is processed from its beginning, as by `run --traces`; a live
    /// source gives the frames that the history still holds.
    void save_traces(const EventLog& events);
    /// Writes the whole film: results as numbers (.tiff), or a movie (.mkv) of the change against the
    /// baseline with its colour bar, or of the present view.
    void save_film(Film what);
    /// Writes the plot as .pdf, .png and .svg.
    void save_plot(TracePlot plot);

    // Why it is not possible now; empty: it is.
    std::string why_no_traces() const;
    std::string why_no_film(Film what) const;

private:
    bool is_film() const { return parts_.film.running() || parts_.film.why_not().empty(); }
    struct Export {
        std::shared_ptr<Sink> sink;
        bool logs_itself; ///< its end, as a recorder does
    };
    void process(const Export& made, const std::string& path);
    void save_history(const EventLog& events);
    void report(const Export& made, WholeFilm::Outcome outcome, const std::string& text);

    Parts parts_;
};

} // namespace specklescope
