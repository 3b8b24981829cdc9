// What a recording says that cannot be is left out, and said: alike by every source that plays one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace specklescope {

/// Each sort once, however often it is played.
class ToldDoubts {
public:
    /// RecordedText::doubts() of `file`.
    void tell(const std::string& file, const std::vector<std::string_view>& doubts);
    void clear() { told_.clear(); }

private:
    std::vector<std::string_view> told_; ///< of texts that stay
};

} // namespace specklescope
