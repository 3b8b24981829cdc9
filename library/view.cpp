// Results for displays and video encoders, by the rules of --view.
#include "base/text.hpp"
#include "config/settings.hpp"
#include "config/text.hpp"
#include "library/convert.hpp"
#include "library/handles.hpp"
#include "library/settings.hpp"
#include "pipeline/mapping.hpp"

#include <vector>

namespace specklescope::library {

namespace {

class ViewObject final : public Object {
public:
    static constexpr Kind kKind{"view", "specklescope_view_create"};

    explicit ViewObject(const Mapping& mapping) : mapping_(mapping) {}

    ValueRange range(ConstHostView image) const {
        return mapping_.automatic ? percentile_range(image, mapping_.low_percentile, mapping_.high_percentile)
                                  : ValueRange{mapping_.low, mapping_.high};
    }
    /// Values of the first and the last colour.
    ValueRange colors(ConstHostView image, HostView rgb) const {
        const ValueRange shown = exposed(range(image), mapping_.exposure_stops);
        map_colors(image, mapping_.colormap, shown,
                   curve_in_effect(mapping_, image.shape.channels, /*picture=*/false), rgb);
        return shown;
    }

private:
    Mapping mapping_;
};

void check_made(const HostView& made, const Shape& wanted, const char* what) {
    if (made.shape != wanted)
        throw UsageError("The output is " + to_string(made.shape) + ", and " + what + " of this input are " +
                         to_string(wanted) + "; give it memory of that shape.");
}

void check_apart(ConstHostView from, ConstHostView to) {
    if (overlap(from, to))
        throw UsageError("The output shares memory with the input; give it memory of its own.");
}

} // namespace

} // namespace specklescope::library

using namespace specklescope;
using namespace specklescope::library;

extern "C" {

specklescope_status specklescope_view_count(size_t* count) {
    return guarded([&] {
        need(count, "The place for the count");
        *count = mapping_table().decls().size();
    });
}

specklescope_status specklescope_view_describe(size_t index, specklescope_parameter_info* info) {
    return guarded(
        [&] { write_struct(info, info_of_parameter(mapping_table(), index), "The parameter's info"); });
}

specklescope_status specklescope_view_create(const char* text, specklescope_view** view) {
    return guarded([&] {
        need(view, "The place for the view");
        keep_quiet();
        *view = static_cast<specklescope_view*>(
            keep(std::make_shared<ViewObject>(mapping_from_text(text)), ViewObject::kKind));
    });
}

specklescope_status specklescope_view_free(specklescope_view* view) {
    return guarded([&] {
        if (view)
            take_out_as<ViewObject>(view);
    });
}

specklescope_status specklescope_view_colors(specklescope_view* view, const specklescope_image* input,
                                             const specklescope_image* output, double* low, double* high) {
    return guarded([&] {
        const Using<ViewObject> use(view);
        const HostView from = view_of(read_struct(input, "The input"), "The input");
        const HostView to = view_of(read_struct(output, "The output"), "The output");
        check_made(to, {from.shape.width, from.shape.height, 3, PixelType::u8}, "the colours");
        check_apart(from, to);
        const ValueRange shown = use->colors(from, to);
        if (low)
            *low = shown.low;
        if (high)
            *high = shown.high;
    });
}

specklescope_status specklescope_view_levels(specklescope_view* view, const specklescope_image* input,
                                             const specklescope_image* output, double* scale,
                                             double* offset) {
    return guarded([&] {
        const Using<ViewObject> use(view);
        const HostView from = view_of(read_struct(input, "The input"), "The input");
        const HostView to = view_of(read_struct(output, "The output"), "The output");
        need(scale, "The place for the scale");
        need(offset, "The place for the offset");
        if (from.shape.channels != 1)
            throw UsageError("The input has 3 channels, and levels are of one; take its colours.");
        check_made(to, {from.shape.width, from.shape.height, 1, PixelType::u16}, "the levels");
        check_apart(from, to);
        const LevelScale made =
            level_scale(from.shape.type, from.shape.type == PixelType::f32 ? use->range(from) : ValueRange());
        to_levels(from, made, to.as<std::uint16_t>());
        *scale = made.scale;
        *offset = made.offset;
    });
}

} // extern "C"
