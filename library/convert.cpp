#include "library/convert.hpp"

#include "pipeline/executor.hpp"

#include <cmath>
#include <cstdint>

namespace specklescope::library {

namespace {

std::size_t sample_bytes(const Shape& shape) { return pixel_bytes(shape.type); }

} // namespace

Shape shape_of(const specklescope_image& image, const std::string& which) {
    if (image.type < SPECKLESCOPE_U8 || image.type > SPECKLESCOPE_F32)
        throw UsageError(which + " has pixels of type " + std::to_string(image.type) +
                         "; allowed: 0 (u8), 1 (u16), 2 (f32).");
    if (image.channels != 0 && image.channels != 1 && image.channels != 3)
        throw UsageError(which + " has " + std::to_string(image.channels) +
                         " channels; allowed: 1 (grey), 3 (RGB, interleaved).");
    if (image.width < 1 || image.height < 1 || image.width > kMaxSide || image.height > kMaxSide)
        throw UsageError(which + " is " + std::to_string(image.width) + "×" + std::to_string(image.height) +
                         " pixels; allowed: 1…" + std::to_string(kMaxSide) + " each way.");
    const Shape shape{image.width, image.height, image.channels == 3 ? 3 : 1,
                      static_cast<PixelType>(image.type)};
    if (shape.bytes() > kMaxImageBytes)
        throw UsageError(which + " is " + to_string(shape) + ", " + std::to_string(shape.bytes() >> 20) +
                         " MiB; allowed: up to " + std::to_string(kMaxImageBytes >> 20) + " MiB.");
    return shape;
}

Frame Place::frame() const { return on_device ? borrowed_device_frame(device()) : borrowed_frame(host()); }

Place place_of(const specklescope_image& image, const std::string& which) {
    const Shape shape = shape_of(image, which);
    if (image.memory != SPECKLESCOPE_HOST && image.memory != SPECKLESCOPE_DEVICE)
        throw UsageError(which + " lies in memory of kind " + std::to_string(image.memory) +
                         "; allowed: 0 (host), 1 (device).");
    if (!image.data)
        throw UsageError(which + " has no pixels: data is NULL; give the address of its first row.");
    if (reinterpret_cast<std::uintptr_t>(image.data) % sample_bytes(shape) != 0)
        throw UsageError(which + " begins at an address that is no multiple of the " +
                         std::to_string(sample_bytes(shape)) + " bytes of a sample; copy it to one that is.");
    const std::size_t pitch = image.pitch == 0 ? shape.row_bytes() : image.pitch;
    if (pitch < shape.row_bytes() || pitch % sample_bytes(shape) != 0 ||
        pitch > SIZE_MAX / static_cast<std::size_t>(shape.height))
        throw UsageError(which + " has a pitch of " + std::to_string(pitch) +
                         " bytes; allowed: multiples of " + std::to_string(sample_bytes(shape)) + " from " +
                         std::to_string(shape.row_bytes()) +
                         ", a row's bytes, or 0 where the rows follow each other.");
    return {static_cast<std::byte*>(image.data), shape, pitch, image.memory == SPECKLESCOPE_DEVICE,
            image.stream};
}

HostView view_of(const specklescope_image& image, const std::string& which) {
    const Place place = place_of(image, which);
    if (place.on_device)
        throw UsageError(which +
                         " lies in memory of a GPU, which this call does not take; copy it to the host.");
    return place.host();
}

bool overlap(ConstHostView one, ConstHostView other) {
    const auto begin = [](ConstHostView view) { return reinterpret_cast<std::uintptr_t>(view.data); };
    const auto end = [&](ConstHostView view) {
        return begin(view) + view.pitch * static_cast<std::size_t>(view.shape.height - 1) +
               view.shape.row_bytes();
    };
    return begin(one) < end(other) && begin(other) < end(one);
}

specklescope_image to_c(const Shape& shape) {
    specklescope_image image{};
    image.pitch = shape.row_bytes();
    image.width = shape.width;
    image.height = shape.height;
    image.channels = shape.channels;
    image.type = static_cast<std::int32_t>(shape.type);
    image.memory = SPECKLESCOPE_HOST;
    return image;
}

specklescope_image to_c(ConstHostView view) {
    specklescope_image image = to_c(view.shape);
    image.pitch = view.pitch;
    image.data =
        const_cast<std::byte*>(view.data); // C has one struct for both; the header states who may write
    return image;
}

specklescope_image to_c(ConstDeviceView view) {
    specklescope_image image = to_c(ConstHostView(view.data, view.shape, view.pitch));
    image.memory = SPECKLESCOPE_DEVICE;
    return image;
}

specklescope_result to_c(const Result& result) {
    specklescope_result made{};
    made.sequence = result.info.sequence;
    made.version = result.info.version;
    made.time_ns = result.info.capture_ns;
    made.exposure_ms = result.exposure.known() && std::isfinite(result.exposure.ms) ? result.exposure.ms : 0;
    made.exposure_origin = to_string(result.exposure.origin);
    made.quantity = result.quantity.name.c_str();
    made.symbol = result.quantity.symbol.c_str();
    made.unit = result.quantity.unit.c_str();
    made.undefined = result.counts.undefined;
    made.infinite = result.counts.infinite;
    made.saturated = result.counts.saturated;
    made.windows = result.counts.windows;
    made.raw_saturated = result.counts.raw_saturated;
    made.raw_samples = result.counts.raw_samples;
    made.regions = result.regions ? result.regions->statistics.size() : 0;
    made.warmup_frames = result.warmup.frames;
    made.warmup_wanted = result.warmup.wanted;
    made.measure = to_string(result.quantity.measure).data(); // null-terminated: from a table of literals
    made.warming_up = result.warming_up() ? 1 : 0;
    made.arrival_ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(result.info.arrival.time_since_epoch()).count();
    made.position = result.info.position ? static_cast<std::int64_t>(*result.info.position) : -1;
    return made;
}

specklescope_region region_of(const Result& result, std::size_t index) {
    const std::size_t count = result.regions ? result.regions->statistics.size() : 0;
    if (index >= count)
        throw UsageError("There is no region number " + std::to_string(index) + "; the result has " +
                         std::to_string(count) + ", counted from 0.");
    const RegionStatistics& measured = result.regions->statistics[index];
    const PlacedRegion& region = result.regions->placed->regions[index];
    specklescope_region made{};
    made.name = region.name.c_str();
    made.shape = region.shape.c_str();
    made.fit = to_string(region.fit);
    made.mean = measured.mean;
    made.mean_of_map = measured.mean_of_map;
    made.standard_deviation = measured.std;
    made.minimum = measured.min;
    made.maximum = measured.max;
    made.median = measured.median;
    made.pixels = measured.pixels;
    made.valid = measured.valid;
    made.infinite = measured.infinite;
    made.undefined = measured.undefined;
    made.saturated = measured.saturated;
    return made;
}

std::vector<Result> results_also(const Result& result) {
    std::vector<Result> all;
    if (result.also)
        for (const NamedImage& one : *result.also)
            all.push_back(named_result(result, one.name).value());
    return all;
}

void write_also(const std::vector<Result>& also, const Result& of, std::size_t index, const char** name,
                specklescope_image* image, specklescope_result* result) {
    if (name)
        *name = nullptr;
    if (index >= also.size())
        return;
    if (image) {
        if (!also[index].image)
            throw UsageError("This stream keeps its results on the GPU and gives no further images; open it "
                             "without memory=device.");
        write_struct(image, to_c(also[index].image.host()), "The image");
    }
    if (result)
        write_struct(result, to_c(also[index]), "The result");
    if (name)
        *name = (*of.also)[index].name.c_str();
}

FrameInfo info_of(const specklescope_facts& facts) {
    const auto check = [](double value, const char* what, const char* zero) {
        if (!std::isfinite(value) || value < 0)
            throw UsageError(std::string("The frame's ") + what + " = " + std::to_string(value) +
                             " is not possible; allowed: a number above 0, or 0 (" + zero + ").");
    };
    check(facts.exposure_ms, "exposure_ms", "unknown");
    check(facts.full_scale, "full_scale", "that of the type");
    FrameInfo info;
    info.capture_ns = facts.time_ns;
    info.full_scale = facts.full_scale;
    info.discontinuity = facts.discontinuity != 0;
    info.recorded_in_warmup = facts.warming_up != 0;
    if (facts.exposure_ms > 0) {
        info.exposure_ms = facts.exposure_ms;
        info.exposure_origin = ExposureOrigin::camera;
    }
    return info;
}

} // namespace specklescope::library
