// A frame is named in its file (a link to a TIFF page, the line of a raw frame) when its bytes are on the
// storage: after a power cut everything that is named is whole, whatever the system stored of the rest.
//
// Names are gathered for a quarter of a second, the storage is asked to keep what they name, and when it has
// answered they are written. The recorder's thread waits for none of this. A killed process must not lose
// more than the last second, and that goes before: a storage that answers too late finds the frames named
// already, and one that takes longer than a second is not asked again.
#pragma once

#include "files/whole_file.hpp"
#include "pipeline/frame.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <future>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace specklescope {

class StorageBarrier {
public:
    /// After the recorder took a frame it is named so late at most.
    static constexpr std::chrono::milliseconds kNamedAfter{800};
    static constexpr std::chrono::milliseconds kEvery{250};
    static constexpr std::chrono::milliseconds kTooSlow{1000};

    /// A chain leads from each name to the next: what follows one that waits is out of reach without it, and
    /// is written at once. A text is held back as a whole.
    enum class Kind : std::uint8_t { chain, text };

    /// Frames are in `frames`, their names go into `names`, which may be the same; both stay open until
    /// stop(). `path` is that of the frames.
    StorageBarrier(const File& frames, const File& names, std::string path, Kind kind)
        : frames_(frames), names_(names), path_(std::move(path)), kind_(kind) {}
    ~StorageBarrier() { stop(); }
    StorageBarrier(const StorageBarrier&) = delete;
    StorageBarrier& operator=(const StorageBarrier&) = delete;

    /// A frame taken at `since` is written, and `bytes` at `offset` are what names it. Never waits for the
    /// storage. Returns the error number of this name, where it is written at once; 0: none. With `all` these
    /// bytes name the frames that wait as well, in place of their own names.
    int name(std::uint64_t offset, std::string_view bytes, SteadyClock::time_point since, bool all = false);
    /// Names the frames that wait, stored or late, and stores their names: what a file says of itself after
    /// that, it may say for good. Returns error().
    int stop();
    int error() const; ///< the first error number of the storage, or of names that waited; 0: none

    std::uint64_t named() const;    ///< frames
    std::uint64_t unstored() const; ///< of those, named before the storage had them

private:
    /// Names that wait, one after another in the file of names, and of how many frames.
    struct Group {
        std::uint64_t frames = 0, offset = 0;
        std::string bytes;
        SteadyClock::time_point since; ///< of the first frame
    };
    void run();
    void store_and_name(std::unique_lock<std::mutex>& lock);
    bool ask(std::future<int>& answer, std::uint64_t bytes);
    void name_late(std::unique_lock<std::mutex>& lock, Group& storing, SteadyClock::time_point started);
    void write(Group& group);
    int write_unstored(Group& group);
    int put(const Group& group);
    void note(int error);
    int store(std::uint64_t bytes);
    void give_up(const std::string& why);

    const File &frames_, &names_;
    const std::string path_;
    const Kind kind_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    Group waiting_;
    bool holds_ = true; ///< names wait for the storage
    bool stop_ = false, answered_ = false, told_ = false;
    std::uint64_t named_ = 0, unstored_ = 0;
    int error_ = 0;
    std::atomic<bool> enough_{false}; ///< nobody waits for the storage any longer
    std::uint64_t stored_ = 0;        ///< bytes of the file; used by the thread that asks for them alone
    std::thread thread_;              ///< none before the first frame
};

} // namespace specklescope
