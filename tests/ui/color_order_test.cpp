// Maps marked as safe for the colour-blind have growing CIE lightness, calculated independently of the
// program.
#include "tests/support/child.hpp"
#include "tests/support/file_tools.hpp"
#include "ui/canvas/color_bar.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace specklescope::color_order_test {

TEST(ColorOrder, IsThatOfCieLightness) {
    std::ostringstream out;
    const auto& names = mapping_table().at("colormap").choices;
    for (std::size_t i = 0; i < names.size(); ++i) {
        out << names[i] << ' ' << grows_in_lightness(static_cast<ColorMap>(i));
        for (const Rgb& colour : color_table(static_cast<ColorMap>(i)))
            out << ' ' << int{colour[0]} << ' ' << int{colour[1]} << ' ' << int{colour[2]};
        out << '\n';
    }
    const TemporaryFolder folder;
    test::write_file(folder / "maps.txt", out.str());
    EXPECT_TRUE(test::python(folder, R"py(
import numpy as np
from skimage.color import rgb2lab
safe = set()
for line in open("maps.txt"):
    name, said, *codes = line.split()
    lightness = rgb2lab(np.array(codes, float).reshape(1, 256, 3) / 255)[0, :, 0]
    grows = (np.maximum.accumulate(lightness) - lightness).max() < 2   # of 100; a just noticeable difference is 2.3
    assert grows == (said == "1"), (name, said, (np.maximum.accumulate(lightness) - lightness).max())
    if grows: safe.add(name)
assert {"viridis", "inferno", "magma", "grey"} <= safe and not safe & {"jet", "turbo"}, safe
)py")) << test::read_file(folder / "python.log");
}

} // namespace specklescope::color_order_test
