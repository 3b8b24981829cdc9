// oneTBB's threads, which all of the process shares.
#pragma once

#include <memory>

namespace specklescope {

/// Whether oneTBB may be called. Not in a process that was forked from one that had called it: its threads
/// are not here, and neither is whoever held its locks. There the thread that calls computes alone.
bool tbb_is_here();

/// Of oneTBB, at least 1; without it 1.
int all_threads();

/// At most so many compute in all of the process as long as it lives; 0: all.
class ProcessThreadLimit {
public:
    explicit ProcessThreadLimit(int threads);
    int threads() const { return threads_; }

private:
    struct Control;
    struct End {
        void operator()(Control* control) const;
    };
    int threads_;
    std::unique_ptr<Control, End> control_;
};

} // namespace specklescope
