// C functions of streams and their frames.
#include "analysis/regions_file.hpp"
#include "library/stream.hpp"
#include "pipeline/chain.hpp"

using namespace specklescope;
using namespace specklescope::library;

namespace {

std::shared_ptr<StreamObject> find_stream(const specklescope_stream* stream) {
    return find_as<StreamObject>(stream);
}

std::shared_ptr<FrameObject> find_frame(const specklescope_frame* frame) {
    return find_as<FrameObject>(frame);
}

Chain chain_of(const char* text) { return chain_from_text(text ? text : ""); }

} // namespace

extern "C" {

specklescope_status specklescope_stream_open(const char* source, const char* chain,
                                             const specklescope_settings* settings,
                                             specklescope_stream** stream) {
    return guarded([&] {
        need(source, "The source");
        need(stream, "The place for the stream");
        keep_quiet();
        const Watcher watcher = watcher_of(settings);
        const Asking asking(watcher);
        Params own(stream_table());
        Settings told = settings_of(settings, For::stream, &own);
        auto made = std::make_shared<StreamObject>(source, chain_of(chain), std::move(told),
                                                   own.as<StreamOptions>(), watcher);
        *stream = static_cast<specklescope_stream*>(keep(std::move(made), StreamObject::kKind));
        end_at_exit();
    });
}

specklescope_status specklescope_stream_close(specklescope_stream* stream) {
    return guarded([&] {
        if (!stream)
            return;
        if (const auto taken = take_out_as<StreamObject>(stream))
            taken->stop();
    });
}

specklescope_status specklescope_stream_source(specklescope_stream* stream, specklescope_source_info* info) {
    return guarded([&] {
        const Using<StreamObject> use(stream);
        const SourceInfo& source = use->source();
        specklescope_source_info found{};
        found.name = source.name.c_str();
        found.coding = source.coding.c_str();
        found.lossy = source.lossy.c_str();
        found.full_scale = source.full_scale;
        found.rate = source.rate;
        found.frames = source.frames;
        found.width = source.shape.width;
        found.height = source.shape.height;
        found.channels = source.shape.channels;
        found.type = static_cast<std::int32_t>(source.shape.type);
        found.live = source.live ? 1 : 0;
        write_struct(info, found, "The source's info");
    });
}

specklescope_status specklescope_stream_next(specklescope_stream* stream, double seconds,
                                             specklescope_frame** frame) {
    return guarded([&] {
        need(frame, "The place for the frame");
        const Using<StreamObject> use(stream);
        *frame = static_cast<specklescope_frame*>(keep(use->next(seconds), FrameObject::kKind));
    });
}

specklescope_status specklescope_stream_stop(specklescope_stream* stream) {
    return guarded([&] { find_stream(stream)->stop(); });
}

specklescope_status specklescope_stream_set(specklescope_stream* stream, size_t stage, const char* name,
                                            const char* value) {
    return guarded([&] {
        need(name, "The parameter's name");
        need(value, "The parameter's value");
        find_stream(stream)->set(stage, {{name, value}});
    });
}

specklescope_status specklescope_stream_set_values(specklescope_stream* stream, const char* stage,
                                                   const char* values) {
    return guarded([&] {
        need(stage, "The stage's name");
        need(values, "The text of the values");
        find_stream(stream)->set(stage_named(stage), values_of(values));
    });
}

specklescope_status specklescope_stream_place(specklescope_stream* stream, const char* stage, size_t* place) {
    return guarded([&] {
        need(stage, "The stage's name");
        need(place, "The place for the stage's");
        *place = place_of(find_stream(stream)->wanted(), std::string_view(stage));
    });
}

specklescope_status specklescope_stream_replace(specklescope_stream* stream, const char* chain) {
    return guarded([&] { find_stream(stream)->replace(chain_of(chain)); });
}

specklescope_status specklescope_stream_set_regions(specklescope_stream* stream, const char* json) {
    return guarded([&] { find_stream(stream)->set_regions(regions_from_text(json)); });
}

specklescope_status specklescope_stream_regions(specklescope_stream* stream, char* text, size_t size,
                                                size_t* needed) {
    return guarded([&] { write_text(to_json(find_stream(stream)->regions()), text, size, needed); });
}

specklescope_status specklescope_stream_set_source(specklescope_stream* stream, const char* name,
                                                   const char* value) {
    return guarded([&] {
        need(name, "The option's name");
        need(value, "The option's value");
        find_stream(stream)->set_source(name, value);
    });
}

specklescope_status specklescope_stream_record(specklescope_stream* stream, const char* path, int32_t what) {
    return guarded([&] {
        need(path, "The file's name");
        Using<StreamObject>(stream)->record(path, what);
    });
}

specklescope_status specklescope_stream_traces(specklescope_stream* stream, const char* path) {
    return guarded([&] {
        need(path, "The file's name");
        Using<StreamObject>(stream)->write_traces(path);
    });
}

specklescope_status specklescope_stream_pause(specklescope_stream* stream, int32_t on) {
    return guarded([&] { find_stream(stream)->pause(on != 0); });
}

specklescope_status specklescope_stream_seek(specklescope_stream* stream, uint64_t frame, int32_t warm) {
    return guarded([&] { Using<StreamObject>(stream)->seek(frame, warm != 0); });
}

specklescope_status specklescope_stream_finish(specklescope_stream* stream) {
    return guarded([&] { find_stream(stream)->finish(); });
}

specklescope_status specklescope_stream_mark(specklescope_stream* stream, const char* label,
                                             uint64_t* number) {
    return guarded([&] {
        const std::uint64_t made = find_stream(stream)->mark(label);
        if (number)
            *number = made;
    });
}

specklescope_status specklescope_stream_statistics(specklescope_stream* stream, char* text, size_t size,
                                                   size_t* needed) {
    return guarded([&] { write_text(find_stream(stream)->statistics(), text, size, needed); });
}

specklescope_status specklescope_stream_messages(specklescope_stream* stream, char* text, size_t size,
                                                 size_t* needed) {
    return guarded([&] { find_stream(stream)->write_messages(text, size, needed); });
}

specklescope_status specklescope_frame_image(specklescope_frame* frame, specklescope_image* image) {
    return guarded([&] {
        const auto found = find_frame(frame);
        const Result& result = found->result();
        write_struct(image,
                     found->on_device() ? to_c(result.device_image.device()) : to_c(result.image.host()),
                     "The image");
    });
}

specklescope_status specklescope_frame_device(specklescope_frame* frame, int32_t* device) {
    return guarded([&] {
        need(device, "The place for the device");
        *device = find_frame(frame)->memory().device();
    });
}

specklescope_status specklescope_frame_used_on(specklescope_frame* frame, void* stream) {
    return guarded([&] { find_frame(frame)->memory().used_on(stream); });
}

specklescope_status specklescope_frame_raw(specklescope_frame* frame, specklescope_image* image) {
    return guarded([&] { write_struct(image, to_c(find_frame(frame)->result().raw.host()), "The image"); });
}

specklescope_status specklescope_frame_result(specklescope_frame* frame, specklescope_result* result) {
    return guarded([&] { write_struct(result, to_c(find_frame(frame)->result()), "The result"); });
}

specklescope_status specklescope_frame_region(specklescope_frame* frame, size_t index,
                                              specklescope_region* region) {
    return guarded(
        [&] { write_struct(region, region_of(find_frame(frame)->result(), index), "The region"); });
}

specklescope_status specklescope_frame_also(specklescope_frame* frame, size_t index, const char** name,
                                            specklescope_image* image, specklescope_result* result) {
    return guarded([&] {
        const auto found = find_frame(frame);
        write_also(found->also(), found->result(), index, name, image, result);
    });
}

specklescope_status specklescope_frame_free(specklescope_frame* frame) {
    return guarded([&] {
        if (frame)
            take_out_as<FrameObject>(frame);
    });
}

} // extern "C"
