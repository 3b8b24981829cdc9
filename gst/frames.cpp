#include "gst/frames.hpp"

#include "gst/pool.hpp"
#include "gst/result_meta.hpp"

#include <cstring>
#include <limits>

namespace specklescope::element {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Throws Refusal if the buffer has fewer bytes than needed.
void check_room(const MappedBytes& bytes, std::size_t needed, const char* which) {
    if (!bytes || bytes.size() < needed)
        throw Refusal(SPECKLESCOPE_RUN_ERROR,
                      std::string("The buffer ") + which +
                          (bytes ? " is too small: it has " + std::to_string(bytes.size()) +
                                       " bytes, and needs " + std::to_string(needed)
                                 : " cannot be mapped") +
                          "; look at the element that made it.");
}

void copy_swapped(const std::byte* from, std::byte* to, std::size_t bytes) {
    for (std::size_t i = 0; i + 1 < bytes; i += 2) {
        to[i] = from[i + 1];
        to[i + 1] = from[i];
    }
}

bool aligned_for(const specklescope_image& image, const void* data) {
    const std::size_t samples = static_cast<std::size_t>(image.width) *
                                static_cast<std::size_t>(image.height) *
                                static_cast<std::size_t>(image.channels);
    return reinterpret_cast<std::uintptr_t>(data) % (frame_bytes(image) / samples) == 0;
}

void grow(Room& room, EditedChain& chain, std::size_t bytes) {
    if (room.bytes < bytes)
        room = make_room(chain.key(), bytes);
}

} // namespace

Frames::Frames(const InputFormat& input, const OutputFormat& output, const specklescope_image& made, int gpu)
    : input_(input), output_(output), made_(made) {
    if (input.cuda && gpu >= 0)
        cuda_.emplace(gpu);
}

specklescope_image Frames::input_image(EditedChain& chain, const MappedVideo& video) {
    specklescope_image image = input_.image;
    image.data = video.row(0);
    image.pitch = static_cast<std::size_t>(video.pitch());
    const std::size_t row_bytes = frame_bytes(image) / static_cast<std::size_t>(image.height);
    const bool aligned = image.type == SPECKLESCOPE_U8 ||
                         (reinterpret_cast<std::uintptr_t>(image.data) % 2 == 0 && image.pitch % 2 == 0);
    if (aligned && !input_.swap)
        return image;
    grow(copied_, chain, frame_bytes(image));
    auto* to = static_cast<std::byte*>(copied_.data);
    for (int y = 0; y < image.height; ++y, to += row_bytes)
        if (input_.swap)
            copy_swapped(video.row(y), to, row_bytes);
        else
            std::memcpy(to, video.row(y), row_bytes);
    image.data = copied_.data;
    image.pitch = row_bytes;
    return image;
}

void Frames::process(EditedChain& chain, const EditedView& view, GstBuffer* from,
                     const specklescope_facts& facts, GstBuffer* to) {
    if (input_.cuda)
        CudaFrames::check(from);
    const MappedVideo video(from, input_.info, cuda_ ? kMapReadCuda : guint{GST_MAP_READ}, "that came in");
    const specklescope_image image =
        cuda_ ? cuda_->image(chain, video, input_.image) : input_image(chain, video);
    specklescope_image made = made_;
    made.pitch = 0;
    specklescope_result result{};
    double meaning[2] = {kNone, kNone};
    Owned<GstSample> values;
    if (!is_picture(output_.sent)) {
        result = write_numbers(chain, image, facts, to);
    } else if (carries_values_) {
        const Owned<GstBuffer> exact = values_buffer(chain);
        {
            const MappedBytes bytes(exact.get(), GST_MAP_READWRITE);
            check_room(bytes, frame_bytes(made), "for the exact numbers");
            made.data = bytes.data();
            result = chain.process(image, facts, made);
            show(view, made, to, meaning);
        }
        gst_buffer_copy_into(exact.get(), to, GST_BUFFER_COPY_TIMESTAMPS, 0, static_cast<gsize>(-1));
        values.reset(gst_sample_new(exact.get(), values_caps_.get(), nullptr, nullptr));
    } else {
        grow(result_, chain, frame_bytes(made));
        made.data = result_.data;
        result = chain.process(image, facts, made);
        show(view, made, to, meaning);
    }
    std::vector<specklescope_region> regions;
    regions.reserve(result.regions);
    for (std::size_t i = 0; i < result.regions; ++i)
        regions.push_back(chain.region(i));
    const bool levels = output_.sent == Sent::levels;
    add_result_meta(to, result,
                    levels ? Meaning{meaning[0], meaning[1], kNone, kNone}
                           : Meaning{kNone, kNone, meaning[0], meaning[1]},
                    regions, values.get());
}

specklescope_result Frames::write_numbers(EditedChain& chain, const specklescope_image& image,
                                          const specklescope_facts& facts, GstBuffer* to) {
    if (gst_buffer_get_size(to) > output_.bytes) // from a pool with larger buffers than a frame
        gst_buffer_set_size(to, static_cast<gssize>(output_.bytes));
    const MappedBytes bytes(to, GST_MAP_WRITE);
    check_room(bytes, output_.bytes, "for the result");
    specklescope_image made = made_;
    made.pitch = 0;
    made.data = bytes.data();
    const bool aligned = aligned_for(made, made.data); // the next element may request a prefix of any length
    if (!aligned) {
        grow(result_, chain, output_.bytes);
        made.data = result_.data;
    }
    const specklescope_result result = chain.process(image, facts, made);
    if (!aligned)
        std::memcpy(bytes.data(), result_.data, output_.bytes);
    return result;
}

Owned<GstBuffer> Frames::values_buffer(EditedChain& chain) {
    const std::size_t bytes = frame_bytes(made_);
    if (!values_pool_ && bytes <= G_MAXUINT) {
        values_caps_ = caps_of_numbers(made_, input_.info);
        values_pool_.reset(
            make_pool(chain.key(), values_caps_.get(), static_cast<guint>(bytes), 0).release());
        if (values_pool_)
            gst_buffer_pool_set_active(values_pool_.get(), TRUE);
    }
    GstBuffer* made = nullptr;
    if (!values_pool_ || gst_buffer_pool_acquire_buffer(values_pool_.get(), &made, nullptr) != GST_FLOW_OK)
        throw Refusal(SPECKLESCOPE_RUN_ERROR,
                      "There is no memory for the " + std::to_string(bytes) +
                          " bytes of exact numbers of an image. Hold fewer of them, or set values=false.");
    return Owned<GstBuffer>(made);
}

void Frames::show(const EditedView& view, const specklescope_image& result, GstBuffer* to,
                  double (&meaning)[2]) {
    const MappedVideo video(to, output_.info, GST_MAP_WRITE, "for the result");
    if (output_.sent == Sent::levels) {
        const specklescope_image levels = levels_image(video);
        check(specklescope_view_levels(view.colors(), &result, &levels, &meaning[0], &meaning[1]));
        if (levels.data != video.row(0))
            for (int y = 0; y < made_.height; ++y)
                std::memcpy(video.row(y), between_.data() + static_cast<std::size_t>(y) * levels.pitch,
                            levels.pitch);
        return;
    }
    const specklescope_image rgb = rgb_image(video);
    check(specklescope_view_colors(output_.sent == Sent::grey ? view.grey() : view.colors(), &result, &rgb,
                                   &meaning[0], &meaning[1]));
    if (output_.sent != Sent::rgb)
        from_rgb(video);
}

/// The buffer's own rows if they are aligned for 16 bits.
specklescope_image Frames::levels_image(const MappedVideo& video) {
    auto levels = sized<specklescope_image>();
    levels.width = made_.width;
    levels.height = made_.height;
    levels.channels = 1;
    levels.type = SPECKLESCOPE_U16;
    levels.data = video.row(0);
    levels.pitch = static_cast<std::size_t>(video.pitch());
    if (aligned_for(levels, levels.data) && levels.pitch % 2 == 0)
        return levels;
    between_.resize(frame_bytes(levels));
    levels.data = between_.data();
    levels.pitch = frame_bytes(levels) / static_cast<std::size_t>(levels.height);
    return levels;
}

/// The buffer's own rows if they are RGB.
specklescope_image Frames::rgb_image(const MappedVideo& video) {
    auto rgb = sized<specklescope_image>();
    rgb.width = made_.width;
    rgb.height = made_.height;
    rgb.channels = 3;
    rgb.type = SPECKLESCOPE_U8;
    if (output_.sent == Sent::rgb) {
        rgb.data = video.row(0);
        rgb.pitch = static_cast<std::size_t>(video.pitch());
    } else {
        between_.resize(frame_bytes(rgb));
        rgb.data = between_.data();
    }
    return rgb;
}

void Frames::from_rgb(const MappedVideo& video) const {
    const std::uint8_t* from = between_.data();
    const bool grey = output_.sent == Sent::grey;
    for (int y = 0; y < made_.height; ++y) {
        auto* to = reinterpret_cast<std::uint8_t*>(video.row(y));
        for (int x = 0; x < made_.width; ++x, from += 3) {
            *to++ = from[0];
            if (grey) // from one of the three equal channels
                continue;
            *to++ = from[1];
            *to++ = from[2];
            *to++ = 255;
        }
    }
}

} // namespace specklescope::element
