// Parameters of all stages and of the view as properties of the element, with the names, ranges, defaults
// and descriptions of their declarations.
#pragma once

#include "gst/library.hpp"

#include <gst/gst.h>

#include <string>
#include <vector>

namespace specklescope::element {

struct Declared {
    std::string stage; ///< empty: a parameter of the view
    specklescope_parameter_info info{};
    std::string property; ///< "speckle-radius", "low-percentile"
};

/// Declarations in the order of the library: stages, then the view. Their property ids begin at
/// kFirstDeclared.
const std::vector<Declared>& declarations();
inline constexpr guint kFirstDeclared = 100;

void install_declared(GObjectClass* object_class);
/// Text of a value for the library: "2.5", "true", name of a choice; independent of the locale.
std::string text_of(const Declared& declared, const GValue& value);
void set_from_text(const Declared& declared, const std::string& text, GValue& value);

} // namespace specklescope::element
