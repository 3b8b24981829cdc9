// oneTBB's threads, shared by the whole process.
#pragma once

#include <memory>

namespace specklescope {

/// Number of threads of oneTBB, at least 1.
int all_threads();

/// Limits the threads of oneTBB in the whole process for its lifetime; 0: all.
class ProcessThreadLimit {
public:
    explicit ProcessThreadLimit(int threads);
    ~ProcessThreadLimit();
    ProcessThreadLimit(const ProcessThreadLimit&) = delete;
    ProcessThreadLimit& operator=(const ProcessThreadLimit&) = delete;
    int threads() const { return threads_; }

private:
    struct Control;
    int threads_;
    std::unique_ptr<Control> control_;
};

} // namespace specklescope
