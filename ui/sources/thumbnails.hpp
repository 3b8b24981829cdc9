// Small pictures of first frames beside the names of files, made on a thread of their own, one at a time, of
// the rows that are seen. Bounded in number, memory and time; kept for as long as the window is open.
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

struct Thumbnail {
    GLuint texture = 0; ///< 0: there is none, and `word` says so
    int width = 0, height = 0;
    std::string word = "…"; ///< "…", "slow", "large", "no header", "unreadable"; empty beside a picture
    std::string about;      ///< size and length of the source, or why there is no picture
};

class Thumbnails {
public:
    static constexpr int kSide = 64;                                      ///< pixels
    static constexpr std::size_t kMost = 2048;                            ///< pictures that are kept: 25 MB
    static constexpr std::uint64_t kMostBytes = std::uint64_t{128} << 20; ///< for the frames of a source
    static constexpr std::chrono::seconds kPatience{3};

    Thumbnails();
    ~Thumbnails();
    Thumbnails(const Thumbnails&) = delete;
    Thumbnails& operator=(const Thumbnails&) = delete;

    // On the thread that draws; nothing waits.
    /// Of a row that is seen in this frame.
    const Thumbnail& of(const SourceArgument& source);
    /// Behind the last row of a frame: what was asked for in it is made, and nothing else.
    void update();
    /// Each is looked at once more when it is asked for next, and made anew where its file has changed.
    void recheck() { ++round_; }
    std::uint64_t made() const { return made_; } ///< looks at first frames that have ended

private:
    struct Entry {
        SourceArgument source;
        Thumbnail shown;
        gl::Texture texture;
        std::uint64_t stamp = 0, round = 0; ///< round: of the look that it comes from; 0: none yet
        std::uint64_t seen = 0;             ///< drawing
    };
    struct Wanted {
        SourceArgument source;
        std::optional<std::uint64_t> stamp; ///< of the picture that there is
        std::uint64_t round = 0;
    };
    struct Made {
        std::string key;
        std::uint64_t stamp = 0, round = 0;
        bool same = false; ///< the file is as it was
        std::string word, about;
        FirstLook look;
    };
    void run();
    Made make(const Wanted& wanted) const;
    void take(Made made);
    void forget_oldest();

    std::map<std::string, Entry> entries_; ///< by SourceArgument::revealed()
    std::uint64_t round_ = 1, drawing_ = 0, made_ = 0;

    mutable std::mutex mutex_; ///< what follows
    std::condition_variable work_;
    std::vector<Wanted> wanted_;
    std::vector<Made> ready_;
    std::string in_work_;
    std::chrono::steady_clock::time_point since_{}; ///< of in_work_
    bool ends_ = false;
    std::thread thread_; ///< last: it uses all of them
};

} // namespace specklescope
