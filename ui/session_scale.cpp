// How large a pixel is, as the session has it.
#include "config/keys/bindings.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "ui/canvas/numbers.hpp"
#include "ui/session.hpp"

namespace specklescope {

double Session::um_per_px(const Chain& of) const {
    return pipeline_ ? pipeline_->um_per_source_px() * source_pixels_per_pixel(of) : 0;
}

void Session::set_um_per_px(double um) {
    if (!pipeline_)
        return;
    settings_.um_per_source_px = um / source_pixels_per_pixel(chain());
    pipeline_->set_um_per_source_px(settings_.um_per_source_px);
    if (const double now = um_per_px(chain_); now > 0)
        say(Message::Level::info, "A pixel of the result is " + number_text(now) + " µm a side.");
    else
        say(Message::Level::info, "Nothing says how large a pixel is any more.");
    if (!recordings_.empty())
        say(Message::Level::warning, "The recordings that run keep the scale with which they began.");
}

/// Of another source; `kept`: as it was given for the one before.
void Session::tell_scale(bool kept) {
    const std::string size = number_text(um_per_px(chain_)) + " µm a side";
    say(Message::Level::info,
        kept ? "A pixel stays " + size +
                   ", as it was given for the source before; the pixel size can be changed" +
                   with_key("", settings_.keys, Action::pixel_size) + "."
             : "A pixel is " + size + ", as the file says.");
}

/// Of the source that the window begins with.
void Session::tell_given_scale() {
    const StreamInfo stream = pipeline_->stream();
    if (stream.source.um_per_px > 0)
        say(Message::Level::info, "The scale is " + scale_text(stream, &chain_) + ".");
}

} // namespace specklescope
