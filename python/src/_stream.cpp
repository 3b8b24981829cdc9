// specklescope._core.Stream and Frame.
#include "_core.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <vector>

namespace door {

namespace {

class Frame {
public:
    explicit Frame(specklescope_frame* frame)
        : frame_(frame), on_device_(data().memory == SPECKLESCOPE_DEVICE) {}
    ~Frame() {
        if (!on_device_) {
            specklescope_frame_free(frame_);
            return;
        }
        const WithoutGil others_run; // a full stream may wait for Python
        for (const Use& use : uses_)
            if (specklescope_frame_used_on(frame_, use.stream) != SPECKLESCOPE_OK)
                specklescope_frame_used_on(frame_, nullptr); // uses the default stream instead
        specklescope_frame_free(frame_);
    }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    specklescope_image data() const {
        auto image = sized<specklescope_image>();
        check(specklescope_frame_image(frame_, &image));
        return image;
    }
    bool on_device() const { return on_device_; }
    int device() const {
        std::int32_t device = 0;
        check(specklescope_frame_device(frame_, &device));
        return device;
    }
    /// Registers a stream that uses the result; `keeps` keeps the stream alive. When the frame is released,
    /// the GPU waits for the current work of this stream before it writes the memory again.
    void order(std::uintptr_t stream, nb::object keeps) {
        if (!on_device_)
            check(specklescope_frame_used_on(frame_, nullptr)); // raises the library's message
        constexpr std::uintptr_t kDefault = 1, kOfThread = 2;   // the default one waits for those of threads
        const auto used =
            reinterpret_cast<void*>(stream == kDefault || stream == kOfThread ? std::uintptr_t{0} : stream);
        if (std::none_of(uses_.begin(), uses_.end(), [&](const Use& use) { return use.stream == used; }))
            uses_.push_back({used, std::move(keeps)});
    }
    specklescope_image raw() const {
        auto image = sized<specklescope_image>();
        check(specklescope_frame_raw(frame_, &image));
        return image;
    }
    nb::dict result() const { return to_dict(told()); }
    nb::list regions() const {
        nb::list all;
        const std::size_t count = told().regions;
        for (std::size_t i = 0; i < count; ++i) {
            auto region = sized<specklescope_region>();
            check(specklescope_frame_region(frame_, i, &region));
            all.append(to_dict(region));
        }
        return all;
    }

    /// Calls f(name, pixels, facts) for each further image; the pixels live as long as the frame.
    template <class F> void for_also(F&& f) const {
        for (std::size_t i = 0;; ++i) {
            const char* name = nullptr;
            auto image = sized<specklescope_image>();
            auto result = sized<specklescope_result>();
            check(specklescope_frame_also(frame_, i, &name, &image, &result));
            if (!name)
                return;
            f(name, image, result);
        }
    }

private:
    specklescope_result told() const {
        auto result = sized<specklescope_result>();
        check(specklescope_frame_result(frame_, &result));
        return result;
    }
    struct Use {
        void* stream;
        nb::object keeps;
    };
    specklescope_frame* frame_;
    bool on_device_;
    std::vector<Use> uses_;
};

/// (address, shape, type, pitch in bytes); None: the result is on the host.
nb::object device_pixels(const Frame& frame) {
    if (!frame.on_device())
        return nb::none();
    const specklescope_image image = frame.data();
    const nb::object shape = image.channels == 3 ? nb::object(nb::make_tuple(image.height, image.width, 3))
                                                 : nb::object(nb::make_tuple(image.height, image.width));
    return nb::make_tuple(reinterpret_cast<std::uintptr_t>(image.data), shape, image.type, image.pitch);
}

class Stream {
public:
    Stream(const nb::str& source, const nb::dict& told, nb::object asked) : progress(std::move(asked)) {
        const specklescope_settings settings = settings_of(told, progress);
        const char* const opened = c_text(source);
        specklescope_status status = SPECKLESCOPE_OK;
        {
            const WithoutGil others_run;
            status = specklescope_stream_open(opened, nullptr, &settings, &stream_);
        }
        check(status);
    }
    ~Stream() {
        const WithoutGil others_run;
        specklescope_stream_close(stream_);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    /// Waits in steps, to react to Ctrl-C. Throws TimeoutError after `seconds`; negative: no limit.
    Frame* next(double seconds) {
        constexpr double kStep = 0.05;
        if (std::isnan(seconds)) { // raises the library's message
            specklescope_frame* none = nullptr;
            check(specklescope_stream_next(stream_, seconds, &none));
        }
        for (double waited = 0;; waited += kStep) {
            const double left = seconds < 0 ? kStep : std::min(kStep, seconds - waited);
            specklescope_frame* frame = nullptr;
            specklescope_status status = SPECKLESCOPE_OK;
            specklescope_stream* const stream = stream_; // while the GIL is held, as in close()
            {
                const WithoutGil others_run;
                status = specklescope_stream_next(stream, std::max(left, 0.0), &frame);
            }
            if (status == SPECKLESCOPE_OK)
                return new Frame(frame); // owned by nanobind
            if (stream && !stream_)      // closed by another thread, which gets the error
                throw Failure{SPECKLESCOPE_END, "The stream has been closed."};
            const bool last = status != SPECKLESCOPE_TIMEOUT || (seconds >= 0 && waited + kStep >= seconds);
            if (last)
                check(status);
            if (PyErr_CheckSignals() != 0)
                throw nb::python_error();
        }
    }
    void close() {
        specklescope_status status = SPECKLESCOPE_OK;
        if (specklescope_stream* const stream = std::exchange(stream_, nullptr)) {
            const WithoutGil others_run;
            status = specklescope_stream_close(stream);
        }
        check(status);
    }
    bool closed() const { return !stream_; }
    void stop() const {
        check_while_others_run([](specklescope_stream* stream) { return specklescope_stream_stop(stream); });
    }
    void set(const nb::str& stage, const nb::str& values) const {
        const char* const stage_text = c_text(stage);
        const char* const values_text = c_text(values);
        check_while_others_run([&](specklescope_stream* stream) {
            return specklescope_stream_set_values(stream, stage_text, values_text);
        });
    }
    void replace(const nb::str& chain) const {
        const char* const chain_text = c_text(chain);
        check_while_others_run([&](specklescope_stream* stream) {
            return specklescope_stream_replace(stream,
                                               chain_text); // builds the chain once, to check it
        });
    }
    void set_regions(const nb::str& json) const {
        const char* const json_text = c_text(json);
        check_while_others_run(
            [&](specklescope_stream* stream) { return specklescope_stream_set_regions(stream, json_text); });
    }
    std::string regions() const { return text_while_others_run(specklescope_stream_regions); }
    void set_source(const nb::str& name, const nb::str& value) const {
        const char* const name_text = c_text(name);
        const char* const value_text = c_text(value);
        check_while_others_run([&](specklescope_stream* stream) {
            return specklescope_stream_set_source(stream, name_text, value_text);
        });
    }
    void record(const nb::str& path, int what) const {
        const char* const path_text = c_text(path);
        check_while_others_run(
            [&](specklescope_stream* stream) { return specklescope_stream_record(stream, path_text, what); });
    }
    void traces(const nb::str& path) const {
        const char* const path_text = c_text(path);
        check_while_others_run(
            [&](specklescope_stream* stream) { return specklescope_stream_traces(stream, path_text); });
    }
    void pause(bool on) const {
        check_while_others_run(
            [&](specklescope_stream* stream) { return specklescope_stream_pause(stream, on ? 1 : 0); });
    }
    void seek(std::uint64_t frame, bool warm) const {
        check_while_others_run([&](specklescope_stream* stream) {
            return specklescope_stream_seek(stream, frame, warm ? 1 : 0);
        });
    }
    void finish() const {
        check_while_others_run(
            [](specklescope_stream* stream) { return specklescope_stream_finish(stream); });
    }
    std::uint64_t mark(const nb::str& label) const {
        const char* const label_text = c_text(label);
        std::uint64_t number = 0;
        check_while_others_run([&](specklescope_stream* stream) {
            return specklescope_stream_mark(stream, label_text, &number);
        });
        return number;
    }
    std::string statistics() const { return text_while_others_run(specklescope_stream_statistics); }
    std::string messages() const { return text_while_others_run(specklescope_stream_messages); }
    nb::dict source() const {
        auto info = sized<specklescope_source_info>();
        std::string name, coding, lossy; // the library's texts are valid until its next call with this stream
        check_while_others_run([&](specklescope_stream* stream) {
            const std::scoped_lock turn(source_turn_);
            const specklescope_status status = specklescope_stream_source(stream, &info);
            if (status == SPECKLESCOPE_OK) {
                name = info.name;
                coding = info.coding;
                lossy = info.lossy;
            }
            return status;
        });
        static constexpr std::array<const char*, 3> kTypes = {"uint8", "uint16", "float32"};
        nb::dict made;
        made["name"] = name;
        made["coding"] = coding;
        made["lossy"] = lossy;
        made["width"] = info.width;
        made["height"] = info.height;
        made["channels"] = info.channels;
        made["dtype"] = kTypes.at(static_cast<std::size_t>(info.type));
        made["full_scale"] = info.full_scale;
        made["rate"] = info.rate;
        made["frames"] = info.frames > 0 ? nb::cast(info.frames) : nb::none();
        made["live"] = info.live != 0;
        return made;
    }

    nb::object progress; ///< as in a chain

private:
    using Text = specklescope_status (*)(specklescope_stream*, char*, std::size_t, std::size_t*);

    std::string text_while_others_run(Text ask) const {
        specklescope_stream* const stream = stream_;
        return text_of([&](char* text, std::size_t size, std::size_t* needed) {
            const WithoutGil others_run;
            return ask(stream, text, size, needed);
        });
    }
    template <class Call> void check_while_others_run(Call&& call) const {
        specklescope_status status = SPECKLESCOPE_OK;
        specklescope_stream* const stream = stream_;
        {
            const WithoutGil others_run;
            status = call(stream);
        }
        check(status);
    }

    specklescope_stream* stream_ = nullptr;
    mutable std::mutex source_turn_; ///< held from the call into the library to the end of the copies
};

} // namespace

void add_stream(nb::module_& module) {
    nb::class_<Frame>(module, "Frame")
        .def("data", [](nb::handle self) { return view_of(nb::cast<Frame&>(self).data(), self); })
        .def("device_pixels", &device_pixels)
        .def("device", &Frame::device)
        .def("order", &Frame::order, nb::arg("stream"), nb::arg("keeps").none())
        .def("raw", [](nb::handle self) { return view_of(nb::cast<Frame&>(self).raw(), self); })
        .def("result", &Frame::result)
        .def("regions", &Frame::regions)
        .def("also", [](nb::handle self) {
            nb::dict all;
            nb::cast<Frame&>(self).for_also(
                [&](const char* name, const specklescope_image& image, const specklescope_result& result) {
                    all[name] = nb::make_tuple(view_of(image, self), to_dict(result));
                });
            return all;
        });
    nb::class_<Stream>(module, "Stream", nb::type_slots(with_progress<Stream>()))
        .def(nb::init<const nb::str&, const nb::dict&, nb::object>(), nb::arg("source"), nb::arg("told"),
             nb::arg("progress").none())
        .def("next", &Stream::next, nb::arg("seconds"), nb::rv_policy::take_ownership)
        .def("close", &Stream::close)
        .def("closed", &Stream::closed)
        .def("stop", &Stream::stop)
        .def("set", &Stream::set, nb::arg("stage"), nb::arg("values"))
        .def("replace", &Stream::replace, nb::arg("chain"))
        .def("set_regions", &Stream::set_regions, nb::arg("json"))
        .def("regions", &Stream::regions)
        .def("set_source", &Stream::set_source, nb::arg("name"), nb::arg("value"))
        .def("record", &Stream::record, nb::arg("path"), nb::arg("what"))
        .def("traces", &Stream::traces, nb::arg("path"))
        .def("pause", &Stream::pause, nb::arg("on"))
        .def("finish", &Stream::finish)
        .def("seek", &Stream::seek, nb::arg("frame"), nb::arg("warm"))
        .def("mark", &Stream::mark, nb::arg("label"))
        .def("statistics", &Stream::statistics)
        .def("messages", &Stream::messages)
        .def("source", &Stream::source);
}

} // namespace door
