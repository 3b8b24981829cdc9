#include "ui/film.hpp"

#include "config/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace specklescope {

namespace {

using namespace std::chrono_literals;

constexpr auto kStepPatience = 2s;    ///< time after which a step without a frame was the last
constexpr auto kSeekPatience = 100ms; ///< between the end of a seek and its displayed frame
constexpr auto kLate = 300ms;

void expect(Film& film, std::uint64_t frame, bool steps) {
    film.sought_at = SteadyClock::now();
    if (!film.sought)
        film.sought_since = film.sought_at;
    film.sought = frame;
    film.steps = steps;
}

/// True if the displayed frame completes the seek, or the seek was lost.
bool seek_is_over(const Film& film, const Session& session, const std::optional<std::uint64_t>& shown) {
    if (shown == film.sought || has_ended(session))
        return true;
    if (film.steps && shown != film.position && (shown < film.position || shown > film.sought))
        return true; // the step led elsewhere: after its loop, to the beginning
    return SteadyClock::now() - film.sought_at > (film.steps ? kStepPatience : kSeekPatience);
}

bool past_the_loop(const Film& film) { return film.loop && film.out && film_position(film) > *film.out; }

std::uint64_t frame_behind(const Film& film, std::uint64_t length) {
    const std::uint64_t here = film_position(film);
    const bool last = film.out == here || here + 1 == length;
    return film.loop && last ? film.in.value_or(0) : here + 1;
}

/// Compares times since the first frame of the file, which adds up gaps too small to detect singly.
bool is_uneven(const FrameInfo& info, double rate) {
    if (!(rate > 0) || !info.position || !info.film_ns)
        return false;
    const double by_rate = static_cast<double>(*info.position) / rate;
    const double stated = static_cast<double>(*info.film_ns) * 1e-9;
    return std::abs(stated - by_rate) > std::max(0.5 / rate, 0.02 * by_rate) + 0.01;
}

bool option_is_on(Session& session, const char* name) {
    const Params& params = session.source_params();
    return params.has_table() && params.table().find(name) && params.get(name) == ParamValue(true);
}

} // namespace

std::string speed_text(double speed) {
    if (speed <= 0)
        return "max";
    if (speed == 0.25)
        return "¼×";
    if (speed == 0.5)
        return "½×";
    char text[16];
    std::snprintf(text, sizeof text, "%.3g×", speed);
    return text;
}

bool has_ended(const Session& session) {
    const RunState state = session.pipeline()->status().state;
    return state == RunState::ended || state == RunState::failed;
}

bool is_film(const Session& session) {
    if (!session.pipeline())
        return false;
    const SourceInfo source = session.pipeline()->status().source;
    return source.seekable && source.length != 1;
}

void follow(Film& film, Session& session, const Result* result) {
    const std::optional<std::uint64_t> shown = result ? result->info.position : std::nullopt;
    if (film.generation != session.generation()) {
        film = {};
        film.generation = session.generation();
    }
    film.loop = session.pipeline() && (session.pipeline()->loop() || option_is_on(session, "loop"));
    if (film.loop && !session.pipeline()->loop() && (film.in || film.out)) // the --loop option has no marks
        tell_loop(session, film);
    if (const auto sought = session.pipeline() ? session.pipeline()->sought() : std::nullopt) {
        expect(film, film.next.value_or(*sought), false);
    } else if (film.next) {
        session.pipeline()->seek(*film.next, session.pipeline()->paused());
        film.next.reset();
    } else if (film.sought && seek_is_over(film, session, shown)) {
        film.sought.reset();
    }
    film.uneven =
        film.uneven || (result && is_uneven(result->info, session.pipeline()->status().source.rate));
    film.position = shown;
    film.furthest = std::max(film.furthest, shown.value_or(0));
}

std::uint64_t film_position(const Film& film) { return film.sought.value_or(film.position.value_or(0)); }

bool film_is_late(const Film& film) { return film.sought && SteadyClock::now() - film.sought_since > kLate; }

std::uint64_t film_length(const Session& session) { return session.pipeline()->status().source.length; }

std::string time_at(std::uint64_t frame, const Session& session) {
    const double rate = session.pipeline()->status().source.rate;
    if (!(rate > 0))
        return "";
    const double seconds = std::round(100 * static_cast<double>(frame) / rate) / 100; // as displayed
    const double minutes = std::floor(seconds / 60);
    char text[48];
    if (minutes >= 60)
        std::snprintf(text, sizeof text, "%.0f:%02.0f:%05.2f", std::floor(minutes / 60),
                      std::fmod(minutes, 60), seconds - 60 * minutes);
    else
        std::snprintf(text, sizeof text, "%.0f:%05.2f", minutes, seconds - 60 * minutes);
    return text;
}

std::string film_time(const Film& film, std::uint64_t frame, const Session& session) {
    const std::string time = time_at(frame, session);
    return time.empty() || !film.uneven ? time : "≈ " + time;
}

std::string film_time(const Film& film, const Session& session) {
    return film_time(film, film_position(film), session);
}

std::string frames_text(const Film& film, const Session& session) {
    const std::uint64_t length = film_length(session);
    return "Frame " + count_text(film_position(film)) + " / " +
           (length > 0 ? count_text(length - 1) : std::string("?"));
}

std::string times_text(const Film& film, const Session& session) {
    const std::string now = film_time(film, session);
    const std::uint64_t length = film_length(session);
    return now.empty() ? now : now + " / " + (length > 0 ? time_at(length - 1, session) : std::string("?"));
}

void seek_to(Session& session, Film& film, std::uint64_t frame, bool settled) {
    if (!is_film(session))
        return;
    const bool warm = settled && session.pipeline()->paused();
    film.next.reset();
    if (warm && session.pipeline()->sought()) // a held key would replace each seek too early
        film.next = frame;
    else
        session.pipeline()->seek(frame, warm);
    expect(film, frame, false);
}

void toggle_pause(Session& session, Film& film) {
    Pipeline* pipeline = session.pipeline();
    if (!pipeline)
        return;
    if (!has_ended(session) && !(pipeline->paused() && past_the_loop(film)))
        return pipeline->pause(!pipeline->paused());
    if (!is_film(session))
        return session.play_again();
    pipeline->pause(false);
    seek_to(session, film, film.in.value_or(0), false);
}

void step_once(Session& session, Film& film) {
    Pipeline* pipeline = session.pipeline();
    if (!pipeline)
        return;
    if (has_ended(session) && film.position && is_film(session)) { // the file may have grown
        pipeline->pause(true);
        return seek_to(session, film, film_position(film) + 1, true);
    }
    if (!pipeline->paused())
        return pipeline->pause(true);
    pipeline->step();
    if (is_film(session) && film.position)
        expect(film, frame_behind(film, film_length(session)), true);
}

void step_back(Session& session, Film& film) {
    if (!is_film(session) || !film.position)
        return;
    session.pipeline()->pause(true);
    if (const std::uint64_t now = film_position(film); now > 0)
        seek_to(session, film, now - 1, true);
}

void jump_by(Session& session, Film& film, int frames) {
    if (!is_film(session) || !film.position)
        return;
    const std::uint64_t here = film_position(film), length = film_length(session);
    const std::uint64_t wanted = frames < 0 ? here - std::min(here, static_cast<std::uint64_t>(-frames))
                                            : here + static_cast<std::uint64_t>(frames);
    if (has_ended(session))
        session.pipeline()->pause(true);
    const std::uint64_t last = std::max(length, here + 1) - 1; // a growing file is longer
    seek_to(session, film, length > 0 ? std::min(wanted, last) : wanted, true);
}

void seek_to_begin(Session& session, Film& film) { seek_to(session, film, film.in.value_or(0), true); }

void seek_to_end(Session& session, Film& film) {
    if (!is_film(session))
        return;
    if (const std::uint64_t length = film_length(session); length > 0)
        seek_to(session, film, length - 1, true);
    else
        session.say(Message::Level::info, "The last frame of " + session.pipeline()->status().source.name +
                                              " is not known until it has been played to its end.");
}

void mark_in(Session& session, Film& film) {
    if (!is_film(session) || !film.position)
        return;
    const std::uint64_t here = film_position(film);
    film.in = film.in == here ? std::nullopt : std::optional(here);
    if (film.in && film.out && *film.out < *film.in)
        film.out.reset();
    tell_loop(session, film);
}

void mark_out(Session& session, Film& film) {
    if (!is_film(session) || !film.position)
        return;
    const std::uint64_t here = film_position(film);
    film.out = film.out == here ? std::nullopt : std::optional(here);
    if (film.in && film.out && *film.out < *film.in)
        film.in.reset();
    tell_loop(session, film);
}

void tell_loop(Session& session, const Film& film) {
    std::optional<LoopRange> range;
    if (film.loop)
        range = LoopRange{.first = film.in.value_or(0), .last = film.out};
    session.pipeline()->set_loop(range);
    if (past_the_loop(film) && session.pipeline()->status().state == RunState::running)
        session.pipeline()->seek(range->first);
}

void toggle_loop(Session& session, Film& film) {
    if (!is_film(session))
        return;
    const bool ended = has_ended(session); // changing the loop changes has_ended()
    film.loop = !film.loop;
    tell_loop(session, film);
    if (!film.loop || !ended)
        return;
    session.pipeline()->pause(false);
    seek_to(session, film, film.in.value_or(0), false);
}

std::optional<double> film_speed(Session& session) {
    const Params& params = session.source_params();
    if (!params.has_table() || !params.table().find("speed"))
        return std::nullopt;
    return std::get<double>(params.get("speed"));
}

void change_speed(Session& session, int steps) {
    const std::optional<double> now = film_speed(session);
    if (!now || !is_film(session))
        return;
    const auto rank = [](double speed) { return speed <= 0 ? 1e9 : speed; }; // "max" is the fastest speed
    const auto at = std::lower_bound(kSpeeds.begin(), kSpeeds.end(), rank(*now),
                                     [&](double a, double b) { return rank(a) < b; });
    const auto next = std::clamp<std::ptrdiff_t>(at - kSpeeds.begin() + steps, 0, std::ssize(kSpeeds) - 1);
    session.edit_source("speed", kSpeeds[static_cast<std::size_t>(next)]);
}

} // namespace specklescope
