// The view: told anything from any thread, and used by one as a whole.
#pragma once

#include "gst/library.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace specklescope::element {

class EditedView {
public:
    // Any thread.
    /// An end of the range fixes it, as --view does.
    void set(const std::string& name, const std::string& value);
    std::optional<std::string> get(const std::string& name) const;

    // The thread that shows.
    /// Takes in all that was ever set. Throws Refusal, each time, where that does not go together.
    void start();
    /// Takes in what was set; false: nothing was. Throws Refusal, once for each change, where that does not
    /// go together; the view stays as it was.
    bool settle();
    /// The range is taken from each result.
    bool automatic() const { return automatic_; }
    specklescope_view* colors() const { return colors_.get(); }
    /// The same in shades of grey.
    specklescope_view* grey() const { return grey_.get(); }

private:
    std::string text(bool grey) const;
    bool wants_automatic() const;

    mutable std::mutex lock_;
    std::map<std::string, std::string> values_; ///< that were set
    bool changed_ = true;
    ViewHandle colors_, grey_;
    bool automatic_ = true;
};

} // namespace specklescope::element
