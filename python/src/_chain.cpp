// specklescope._core.Chain.
#include "_core.hpp"

#include <chrono>

namespace door {

namespace {

class Chain {
public:
    Chain(const std::string& text, const std::string& options, const std::string& regions) {
        const specklescope_settings settings = settings_of(options, regions, false);
        specklescope_status status = SPECKLESCOPE_OK;
        {
            const nb::gil_scoped_release others_run;
            status = specklescope_chain_create(text.c_str(), &settings, &chain_);
        }
        check(status);
    }
    ~Chain() { specklescope_chain_free(chain_); }
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;

    void close() {
        if (chain_) // ended by this door already is well
            specklescope_chain_free(std::exchange(chain_, nullptr));
    }
    void add(const std::string& stage) const { check(specklescope_chain_add(chain_, stage.c_str())); }
    void replace(const std::string& text) const { check(specklescope_chain_replace(chain_, text.c_str())); }
    void set(std::size_t stage, const std::string& name, const std::string& value) const {
        check(specklescope_chain_set(chain_, stage, name.c_str(), value.c_str()));
    }
    std::string get(std::size_t stage, const std::string& name) const {
        return text_of([&](char* text, std::size_t size, std::size_t* needed) {
            return specklescope_chain_get(chain_, stage, name.c_str(), text, size, needed);
        });
    }
    std::string text() const {
        return text_of([&](char* text, std::size_t size, std::size_t* needed) {
            return specklescope_chain_text(chain_, text, size, needed);
        });
    }
    void reset() const { check(specklescope_chain_reset(chain_)); }

    nb::object process(nb::handle frame, nb::handle out, double exposure_ms, double full_scale,
                       std::int64_t time_ns) {
        const Given given = frame_of(frame);
        auto facts = sized<specklescope_facts>();
        facts.exposure_ms = exposure_ms;
        facts.full_scale = full_scale;
        facts.time_ns = time_ns;
        if (!out.is_none()) {
            const Given place = output_of(out);
            check(run(given.image, facts, place.image));
            return place.holder;
        }
        specklescope_image made = shape(given.image);
        while (true) {
            nb::object array = new_array(made);
            const specklescope_status status = run(given.image, facts, made);
            if (status == SPECKLESCOPE_OK)
                return array;
            const Failure failure{status, specklescope_last_error()};
            const specklescope_image now = shape(given.image);
            if (now.width == made.width && now.height == made.height && now.channels == made.channels &&
                now.type == made.type)
                throw failure;
            made = now; // another thread's edit came in between, and the result has another shape
        }
    }

    /// Seconds a call takes without Python in between: what bench.py takes the overhead from.
    double seconds_of(nb::handle frame, nb::handle out, int times) {
        const Given given = frame_of(frame), place = output_of(out);
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < times; ++i)
            check(run(given.image, sized<specklescope_facts>(), place.image));
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / times;
    }

    nb::dict result() const {
        specklescope_result told = result_;
        told.quantity = quantity_.c_str();
        told.symbol = symbol_.c_str();
        told.unit = unit_.c_str();
        return to_dict(told);
    }
    nb::list regions() const {
        nb::list all;
        for (std::size_t i = 0; i < result_.regions; ++i) {
            auto region = sized<specklescope_region>();
            check(specklescope_chain_region(chain_, i, &region));
            all.append(to_dict(region));
        }
        return all;
    }

private:
    specklescope_image shape(const specklescope_image& input) const {
        auto made = sized<specklescope_image>();
        specklescope_status status = SPECKLESCOPE_OK;
        {
            const nb::gil_scoped_release others_run;
            status = specklescope_chain_output(chain_, &input, &made);
        }
        check(status);
        return made;
    }
    specklescope_status run(const specklescope_image& input, const specklescope_facts& facts,
                            const specklescope_image& output) {
        auto result = sized<specklescope_result>();
        std::string quantity, symbol, unit; // those of the library live until its next call only
        {
            const nb::gil_scoped_release others_run;
            const specklescope_status status =
                specklescope_chain_process(chain_, &input, &facts, &output, &result);
            if (status != SPECKLESCOPE_OK)
                return status;
            quantity = result.quantity;
            symbol = result.symbol;
            unit = result.unit;
        }
        result_ = result;
        quantity_ = std::move(quantity);
        symbol_ = std::move(symbol);
        unit_ = std::move(unit);
        return SPECKLESCOPE_OK;
    }

    specklescope_chain* chain_ = nullptr;
    specklescope_result result_ = no_result(); ///< its texts are the strings behind it
    std::string quantity_, symbol_, unit_;

    static specklescope_result no_result() {
        auto none = sized<specklescope_result>();
        none.exposure_origin = "unknown";
        return none;
    }
};

} // namespace

void add_chain(nb::module_& module) {
    nb::class_<Chain>(module, "Chain", nb::is_weak_referenceable())
        .def(nb::init<const std::string&, const std::string&, const std::string&>(), nb::arg("text"),
             nb::arg("options"), nb::arg("regions"))
        .def("close", &Chain::close)
        .def("add", &Chain::add, nb::arg("stage"))
        .def("replace", &Chain::replace, nb::arg("text"))
        .def("set", &Chain::set, nb::arg("stage"), nb::arg("name"), nb::arg("value"))
        .def("get", &Chain::get, nb::arg("stage"), nb::arg("name"))
        .def("text", &Chain::text)
        .def("reset", &Chain::reset)
        .def("process", &Chain::process, nb::arg("frame").none(), nb::arg("out").none(),
             nb::arg("exposure_ms"), nb::arg("full_scale"), nb::arg("time_ns"))
        .def("seconds_of", &Chain::seconds_of, nb::arg("frame"), nb::arg("out"), nb::arg("times"))
        .def("result", &Chain::result)
        .def("regions", &Chain::regions);
}

} // namespace door
