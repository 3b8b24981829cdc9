// The parameters of all stages and of the view, as properties of the element: names, ranges, defaults and
// words are the declarations'.
#pragma once

#include "gst/library.hpp"

#include <gst/gst.h>

#include <string>
#include <vector>

namespace specklescope::element {

struct Declared {
    std::string stage; ///< empty: of the view
    specklescope_parameter_info info{};
    std::string property; ///< "speckle-radius", "low-percentile"
};

/// In the order of the library: stages, then the view. Their properties count from kFirstDeclared in it.
const std::vector<Declared>& declarations();
inline constexpr guint kFirstDeclared = 100;

void install_declared(GObjectClass* object_class);
/// As the library reads values: "2.5", "true", a choice's name; whatever the locale says.
std::string text_of(const Declared& declared, const GValue& value);
void set_from_text(const Declared& declared, const std::string& text, GValue& value);

} // namespace specklescope::element
