// specklescope._core.Recorder.
#include "_core.hpp"

namespace door {

namespace {

class Recorder {
public:
    Recorder(const nb::str& path, int what, const nb::dict& told, bool live) {
        const auto text = [&](const char* name) { return c_text(told, name); };
        const auto number = [&](const char* name) {
            return told.contains(name) ? nb::cast<double>(told[name]) : 0.0;
        };
        auto recording = sized<specklescope_recording>();
        recording.quantity = text("quantity");
        recording.symbol = text("symbol");
        recording.unit = text("unit");
        recording.measure = text("measure");
        recording.source = text("source");
        recording.view = text("view");
        recording.rate = number("rate");
        recording.um_per_px = number("um_per_px");
        recording.what = what;
        recording.live = live ? 1 : 0;
        check(specklescope_recorder_create(c_text(path), &recording, &recorder_));
    }
    ~Recorder() {
        const WithoutGil others_run;
        specklescope_recorder_free(recorder_);
    }
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    void push(nb::handle frame, double exposure_ms, double full_scale, std::int64_t time_ns, bool timed,
              bool discontinuity, bool warming_up) const {
        const Given given = frame_of(frame);
        auto facts = sized<specklescope_facts>();
        facts.exposure_ms = exposure_ms;
        facts.full_scale = full_scale;
        facts.time_ns = time_ns;
        facts.untimed = timed ? 0 : 1;
        facts.discontinuity = discontinuity ? 1 : 0;
        facts.warming_up = warming_up ? 1 : 0;
        specklescope_status status = SPECKLESCOPE_OK;
        {
            const WithoutGil others_run;
            status = specklescope_recorder_push(recorder_, &given.image, &facts);
        }
        check(status);
    }
    std::uint64_t mark(const nb::str& label) const {
        std::uint64_t number = 0;
        check(specklescope_recorder_mark(recorder_, c_text(label), &number));
        return number;
    }
    nb::dict info() const {
        auto info = sized<specklescope_recorder_info>();
        check(specklescope_recorder_status(recorder_, &info));
        nb::dict made;
        made["path"] = info.path;
        made["error"] = info.error;
        made["written"] = info.written;
        made["dropped"] = info.dropped;
        made["queued"] = info.queued;
        made["bytes"] = info.bytes;
        made["files"] = info.files;
        made["closed"] = info.closed != 0;
        return made;
    }
    void close() const {
        specklescope_status status = SPECKLESCOPE_OK;
        {
            const WithoutGil others_run;
            status = specklescope_recorder_close(recorder_);
        }
        check(status);
    }

private:
    specklescope_recorder* recorder_ = nullptr;
};

} // namespace

void add_recorder(nb::module_& module) {
    nb::class_<Recorder>(module, "Recorder")
        .def(nb::init<const nb::str&, int, const nb::dict&, bool>(), nb::arg("path"), nb::arg("what"),
             nb::arg("told"), nb::arg("live"))
        .def("push", &Recorder::push, nb::arg("frame").none(), nb::arg("exposure_ms"), nb::arg("full_scale"),
             nb::arg("time_ns"), nb::arg("timed"), nb::arg("discontinuity"), nb::arg("warming_up"))
        .def("mark", &Recorder::mark, nb::arg("label"))
        .def("info", &Recorder::info)
        .def("close", &Recorder::close);
}

} // namespace door
