#include "base/process_threads.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>

#include <algorithm>

namespace specklescope {

int all_threads() { return std::max(1, tbb::info::default_concurrency()); }

struct ProcessThreadLimit::Control {
    explicit Control(int threads)
        : control(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)) {}
    tbb::global_control control;
};

ProcessThreadLimit::ProcessThreadLimit(int threads)
    : threads_(threads > 0 ? threads : all_threads()), control_(std::make_unique<Control>(threads_)) {}

ProcessThreadLimit::~ProcessThreadLimit() = default;

} // namespace specklescope
