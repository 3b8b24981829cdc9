// Playback of a file: position, loop, speed. Contains no drawing.
#pragma once

#include "session/session.hpp"

#include <array>

namespace specklescope {

/// Playback state of the open source. It belongs to the window and is not stored.
struct Film {
    std::optional<std::uint64_t> position; ///< of the displayed frame
    /// True if a frame is elsewhere in time than the rate implies: frames are missing or uneven. Times from
    /// the rate then differ from the times of the traces.
    bool uneven = false;
    std::uint64_t furthest = 0;           ///< last known frame if the length is unknown
    std::optional<std::uint64_t> in, out; ///< marks of the loop
    bool loop = false;
    std::optional<std::uint64_t> sought; ///< seek target in progress; the last one requested
    std::optional<std::uint64_t> next;   ///< seek target for after the current one
    bool steps = false; ///< the seek in progress is a step, which the pipeline does not report
    SteadyClock::time_point sought_since{}, sought_at{};
    enum class Drag : std::uint8_t { none, place, in, out } dragged = Drag::none; ///< on the time line
    bool resumes = false;         ///< resume playback after the drag
    std::uint64_t generation = 0; ///< generation of the session's pipeline
};

/// Speeds that the window offers; 0: as fast as possible.
inline constexpr std::array<double, 6> kSpeeds = {0.25, 0.5, 1, 2, 4, 0};
/// "¼×", "1×", "max".
std::string speed_text(double speed);

/// True if the source is a file with more than one frame; false for a live source or a single image.
bool is_film(const Session& session);
/// True if no more frames arrive without user action.
bool has_ended(const Session& session);
/// Updates the film from the displayed result (null: none yet). Call once per drawn frame.
void follow(Film& film, Session& session, const Result* result);
/// Position on the time line: the seek target until its frame is displayed.
std::uint64_t film_position(const Film& film);
/// True if a seek takes long enough to be worth a message.
bool film_is_late(const Film& film);
/// Number of frames; 0: unknown.
std::uint64_t film_length(const Session& session);
/// "12 / 99" or "12 / ?"; with times if the rate is known: "0:00.40 / 0:03.30", with ≈ before both if the
/// frames are uneven.
std::string frames_text(const Film& film, const Session& session);
std::string times_text(const Film& film, const Session& session);
/// "1:02.35": time of this frame from the rate; empty if the rate is unknown.
std::string time_at(std::uint64_t frame, const Session& session);
/// Time with ≈ before it if the frames are uneven; without `frame`, of the displayed frame.
std::string film_time(const Film& film, std::uint64_t frame, const Session& session);
std::string film_time(const Film& film, const Session& session);

/// Space. At the end, or paused after the loop, a film restarts at its beginning or at its in mark; other
/// sources that have ended are opened again.
void toggle_pause(Session& session, Film& film);
/// The first call pauses, later calls advance by one frame.
void step_once(Session& session, Film& film);
/// Steps to the previous frame. The frames before it fill the histories first, as in a run.
void step_back(Session& session, Film& film);
/// Jumps by this number of frames, forward or back, within the film.
void jump_by(Session& session, Film& film, int frames);
/// `settled`: the user stays at this frame, so the paused picture is computed as in a run.
void seek_to(Session& session, Film& film, std::uint64_t frame, bool settled);
/// Seeks to the beginning or the in mark; seek_to_end() to the last frame, if known.
void seek_to_begin(Session& session, Film& film);
void seek_to_end(Session& session, Film& film);
/// Sets a mark of the loop at the displayed frame; at the same frame again removes it. An incompatible other
/// mark is removed.
void mark_in(Session& session, Film& film);
void mark_out(Session& session, Film& film);
/// Applies marks that were moved.
void tell_loop(Session& session, const Film& film);
void toggle_loop(Session& session, Film& film);
/// Speed of the source; nullopt if it has none.
std::optional<double> film_speed(Session& session);
/// Changes to the next of kSpeeds in this direction.
void change_speed(Session& session, int steps);

} // namespace specklescope
