// Marks onto a movie of the screen, with Pango and Cairo where they are there.
#pragma once

#include "analysis/region.hpp"
#include "recording/screen/picture.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace specklescope {

bool can_burn(); ///< this build has what it takes

/// What is drawn beside the picture itself, for one frame.
struct BurnedText {
    std::string time;                ///< empty: none
    std::vector<std::string> events; ///< labels that are seen now
    std::vector<Region> regions;     ///< in pixels of the result
    double um_per_px = 0;            ///< of the result; 0: unknown
    double um_per_raw_px = 0;
};

/// One movie's marks. What finds no room is left out, which is logged once.
class Burner {
public:
    explicit Burner(const ScreenMarks& marks);
    ~Burner();
    Burner(const Burner&) = delete;
    Burner& operator=(const Burner&) = delete;

    /// Size of the movie for this picture: enlarged, and with the strip of the colour bar. u8, three
    /// channels.
    Shape shape(const ScreenPicture& picture) const;
    /// `rgb`: of that size. Throws RunError where something is to be drawn that this build cannot draw.
    void burn(const ScreenPicture& picture, const BurnedText& text, HostView rgb);

    /// Height of the text in pixels of the movie.
    int text_size(const ScreenPicture& picture) const;
    /// Width of the strip on the right; 0: none.
    int strip(const ScreenPicture& picture) const;

private:
    struct Drawing;
    ScreenMarks marks_;
    std::unique_ptr<Drawing> drawing_;
};

} // namespace specklescope
