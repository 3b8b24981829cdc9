// A file as a film: where it stands, what is played again and again, how fast. No drawing here.
#pragma once

#include "session/session.hpp"

#include <array>

namespace specklescope {

/// Of the source that is open; the window's, not remembered.
struct Film {
    std::optional<std::uint64_t> position; ///< of the frame on show
    std::uint64_t since = 0;   ///< the frame from which on they follow each other: no seek, no round between
    std::int64_t since_ns = 0; ///< its time of capture
    std::uint64_t seek = 0;    ///< the one that the frame on show came behind
    /// Frames are further apart in time than their rate says: some are missing, or they came unevenly. Then
    /// times by the rate are not those of the traces. Not judged while it is played again and again.
    bool uneven = false;
    std::uint64_t furthest = 0;           ///< what is known to be there, where nobody knows the length
    std::optional<std::uint64_t> in, out; ///< marks of the loop
    bool loop = false;
    std::optional<std::uint64_t> sought; ///< on its way, and the last one asked for
    std::optional<std::uint64_t> next;   ///< sought as soon as the one before it is there
    bool steps = false;                  ///< what is on its way is a step, of which no pipeline tells
    SteadyClock::time_point sought_since{}, sought_at{};
    enum class Drag : std::uint8_t { none, place, in, out } dragged = Drag::none; ///< on the time line
    bool resumes = false;                                                         ///< it was playing before
    std::uint64_t generation = 0; ///< of the session's pipeline
};

/// The speeds that the window offers; 0: as fast as it goes.
inline constexpr std::array<double, 6> kSpeeds = {0.25, 0.5, 1, 2, 4, 0};
/// "¼×", "1×", "max".
std::string speed_text(double speed);

/// The source is a file with a place to choose: no live source, no single picture.
bool is_film(const Session& session);
/// Nothing comes of itself any more.
bool has_ended(const Session& session);
/// Keeps up with what is shown, null for nothing yet; once a drawn frame.
void follow(Film& film, Session& session, const Result* result);
/// What the time line shows: the frame that was sought, until it is there.
std::uint64_t film_position(const Film& film);
/// So long that it is worth a word.
bool film_is_late(const Film& film);
/// Frames; 0: unknown.
std::uint64_t film_length(const Session& session);
/// "12 / 99", "12 / ?", and the same with times where the rate is known: "0:00.40 / 0:03.30", with ≈ in front
/// where they are uneven, which holds for both.
std::string frames_text(const Film& film, const Session& session);
std::string times_text(const Film& film, const Session& session);
/// "1:02.35" at this frame, by the rate; empty where that is unknown.
std::string time_at(std::uint64_t frame, const Session& session);
/// The same with ≈ in front where they are uneven; without a frame, of the one on show.
std::string film_time(const Film& film, std::uint64_t frame, const Session& session);
std::string film_time(const Film& film, const Session& session);

/// Space: at the end, and where it stands behind its loop, a film begins again, at its mark if it has one;
/// other sources that have ended are opened again.
void toggle_pause(Session& session, Film& film);
/// The first one pauses, the next ones take a frame each.
void step_once(Session& session, Film& film);
/// To the frame before, as a run shows it: histories are filled with frames in front of it.
void step_back(Session& session, Film& film);
/// So many frames on, or back, as far as there are any.
void jump_by(Session& session, Film& film, int frames);
/// `settled`: the user stays there, so that a standing picture is to be as a run shows it.
void seek_to(Session& session, Film& film, std::uint64_t frame, bool settled);
/// To the beginning, or its mark; to the last frame, where that is known.
void seek_to_begin(Session& session, Film& film);
void seek_to_end(Session& session, Film& film);
/// The frame on show becomes a mark of the loop; at the same frame again the mark goes. One that the other
/// mark excludes takes that one away.
void mark_in(Session& session, Film& film);
void mark_out(Session& session, Film& film);
/// Marks that were moved count from now on.
void tell_loop(Session& session, const Film& film);
void toggle_loop(Session& session, Film& film);
/// Of the source; nothing where it has none.
std::optional<double> film_speed(Session& session);
/// The next of kSpeeds in this direction.
void change_speed(Session& session, int steps);

} // namespace specklescope
