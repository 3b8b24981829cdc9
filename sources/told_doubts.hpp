// Logs invalid values of a recording that are ignored; shared by all sources that play recordings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Logs each kind once, even if it is played repeatedly.
class ToldDoubts {
public:
    /// `doubts`: RecordedText::doubts() of `file`.
    void tell(const std::string& file, const std::vector<std::string_view>& doubts);
    void clear() { told_.clear(); }

private:
    std::vector<std::string_view> told_; ///< static texts
};

} // namespace specklescope
