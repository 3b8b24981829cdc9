// Functions that run on the threads of oneTBB while the caller does other work.
#pragma once

#include <functional>
#include <memory>

namespace specklescope {

class BackgroundThreads {
public:
    explicit BackgroundThreads(int threads);
    ~BackgroundThreads(); ///< waits for the functions
    BackgroundThreads(const BackgroundThreads&) = delete;
    BackgroundThreads& operator=(const BackgroundThreads&) = delete;
    /// Calls f() later on one of the threads, in the order of start(). f must not throw. Any thread.
    void start(std::function<void()> f);
    /// Calls f() now on the calling thread, whose run_bands() use these threads.
    void run(const std::function<void()>& f);

private:
    struct Arena;
    std::unique_ptr<Arena> arena_;
};

} // namespace specklescope
