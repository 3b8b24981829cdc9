#include "sources/told_doubts.hpp"

#include "base/log.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace specklescope {

void ToldDoubts::tell(const std::string& file, const std::vector<std::string_view>& doubts) {
    for (const std::string_view doubt : doubts) {
        if (std::find(told_.begin(), told_.end(), doubt) != told_.end())
            continue;
        told_.push_back(doubt);
        run_log().warn("'{}' has an impossible value, which is ignored: {}.", file, doubt);
    }
}

} // namespace specklescope
