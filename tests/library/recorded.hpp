// Recordings whose frames contain their position, for tests of files.
#pragma once

#include "tests/library/client.hpp"

#include <filesystem>

namespace client {

/// Raw frames with a known position: after a seek the pixels contain it, unlike sequence numbers.
inline std::string recorded_file(int frames, const std::string& name = "/library_jumps.tiff", int width = 16,
                                 int first = 0) {
    const std::string path = own_folder() + name;
    std::filesystem::remove(path);
    auto told = sized<specklescope_recording>();
    told.what = SPECKLESCOPE_FRAMES;
    specklescope_recorder* recorder = nullptr;
    EXPECT_EQ(specklescope_recorder_create(path.c_str(), &told, &recorder), SPECKLESCOPE_OK)
        << specklescope_last_error();
    for (int i = first; i < first + frames; ++i) {
        Pixels pixels{width, 12, 1,
                      std::vector<std::uint16_t>(static_cast<std::size_t>(12 * width),
                                                 static_cast<std::uint16_t>(100 * i))};
        const specklescope_image image = image_of(pixels);
        auto facts = sized<specklescope_facts>();
        facts.time_ns = 1000000LL * i;
        EXPECT_EQ(specklescope_recorder_push(recorder, &image, &facts), SPECKLESCOPE_OK)
            << specklescope_last_error();
    }
    EXPECT_EQ(specklescope_recorder_close(recorder), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_recorder_free(recorder), SPECKLESCOPE_OK);
    return path;
}

/// Position of the next frame, from its pixels; −1: the end, −2: a timeout, −3: an error.
inline double next_place(specklescope_stream* stream, double seconds = -1, double* made = nullptr) {
    specklescope_frame* frame = nullptr;
    const specklescope_status status = specklescope_stream_next(stream, seconds, &frame);
    if (status != SPECKLESCOPE_OK)
        return status == SPECKLESCOPE_END ? -1 : status == SPECKLESCOPE_TIMEOUT ? -2 : -3;
    auto raw = sized<specklescope_image>(), image = sized<specklescope_image>();
    EXPECT_EQ(specklescope_frame_raw(frame, &raw), SPECKLESCOPE_OK);
    EXPECT_EQ(specklescope_frame_image(frame, &image), SPECKLESCOPE_OK);
    const double place = *static_cast<const std::uint16_t*>(raw.data) / 100.0;
    if (made)
        *made = *static_cast<const float*>(image.data) / 100.0;
    specklescope_frame_free(frame);
    return place;
}

} // namespace client
