// Pages of text, lines and pictures, as PDF. Lengths are in points, from the upper left.
#pragma once

#include "recording/draw/canvas.hpp"

namespace specklescope {

class Sheet final : public Canvas {
public:
    static constexpr double kWidth = 841.89, kHeight = 595.28; ///< A4, landscape
    static constexpr double kMargin = 40;

    /// `title` stands in the file's own description. Throws RunError.
    explicit Sheet(const std::string& title);
    ~Sheet() { cairo_surface_finish(surface()); } // it writes into the bytes, which end before it
    Sheet(const Sheet&) = delete;
    Sheet& operator=(const Sheet&) = delete;
    /// The whole file. Throws RunError if anything failed.
    std::string finish();

    double y = kMargin; ///< where the next thing begins
    static constexpr double left() { return kMargin; }
    static constexpr double width() { return kWidth - 2 * kMargin; }
    /// Begins another page unless there is room for this. True if it did.
    bool need(double height);

    /// At y, over as many lines and pages as it takes; y is below it then.
    void paragraph(const std::string& text, const TextStyle& style, double indent = 0);
    /// With room below it for this much, so that it is not alone at the foot of a page.
    void heading(const std::string& text, double room = 40);

private:
    Sheet(std::unique_ptr<std::string> bytes, const std::string& title);
    void foot();

    std::unique_ptr<std::string> bytes_; ///< Cairo writes into it: it stays where it is
    std::string title_;
    int page_ = 1;
};

} // namespace specklescope
