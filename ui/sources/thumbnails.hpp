// Thumbnails of first frames next to file names. A separate thread makes them one at a time, for visible
// rows only. Number, memory and time are limited; thumbnails are kept until the window closes.
#pragma once

#include "base/source_argument.hpp"
#include "config/look/first_look.hpp"
#include "ui/canvas/gl.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace specklescope {

/// "640 × 480 u16, 99 frames".
std::string text_of_look(const FirstLook& look);
/// Size, bit depth, frames, rate, duration and exposure, in lines.
std::string details_of_look(const FirstLook& look);

struct Thumbnail {
    GLuint texture = 0; ///< 0: none, and `word` gives the reason
    int width = 0, height = 0;
    std::string word = "…"; ///< "…", "slow", "large", "no header", "unreadable"; empty if there is a texture
    std::string about;      ///< size and length of the source, or the reason for the missing thumbnail
};

class Thumbnails {
public:
    static constexpr int kSide = 64;           ///< in pixels
    static constexpr std::size_t kMost = 2048; ///< maximum number of thumbnails: 25 MB
    static constexpr std::uint64_t kMostBytes = std::uint64_t{128} << 20; ///< limit for a source's frames
    static constexpr std::chrono::seconds kPatience{3};

    Thumbnails();
    ~Thumbnails();
    Thumbnails(const Thumbnails&) = delete;
    Thumbnails& operator=(const Thumbnails&) = delete;

    // Require the drawing thread; never wait.
    /// Thumbnail for a row that is visible in this frame.
    const Thumbnail& of(const SourceArgument& source);
    /// Call after the last row of a frame: makes only the thumbnails that this frame requested.
    void update();
    /// Checks each file again at its next request, and makes a new thumbnail if the file has changed.
    void recheck() { ++round_; }
    std::uint64_t made() const { return made_; } ///< number of finished previews

private:
    struct Entry {
        SourceArgument source;
        Thumbnail shown;
        gl::Texture texture;
        std::uint64_t stamp = 0, round = 0; ///< round: of the last check; 0: none yet
        std::uint64_t seen = 0;             ///< last frame in which the row was visible
    };
    struct Wanted {
        SourceArgument source;
        std::optional<std::uint64_t> stamp; ///< of the existing thumbnail
        std::uint64_t round = 0;
    };
    struct Made {
        std::string key;
        std::uint64_t stamp = 0, round = 0;
        bool same = false; ///< the file has not changed
        std::string word, about;
        FirstLook look;
    };
    void run();
    Made make(const Wanted& wanted) const;
    void take(Made made);
    void forget_oldest();

    std::map<std::string, Entry> entries_; ///< by SourceArgument::revealed()
    std::uint64_t round_ = 1, drawing_ = 0, made_ = 0;

    mutable std::mutex mutex_; ///< guards the members below
    std::condition_variable work_;
    std::vector<Wanted> wanted_;
    std::vector<Made> ready_;
    std::string in_work_;
    std::chrono::steady_clock::time_point since_{}; ///< start time of in_work_
    bool ends_ = false;
    std::thread thread_; ///< declared last: uses all other members
};

} // namespace specklescope
