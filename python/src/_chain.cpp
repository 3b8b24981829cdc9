// specklescope._core.Chain.
#include "_core.hpp"

#include <atomic>
#include <cstring>
#include <deque>
#include <vector>

namespace door {

namespace {

class Chain {
public:
    Chain(const nb::str& text, const nb::dict& told, nb::object asked) : progress(std::move(asked)) {
        const specklescope_settings settings = settings_of(told, progress);
        const char* const stages = c_text(text);
        specklescope_status status = SPECKLESCOPE_OK;
        {
            const WithoutGil others_run;
            status = specklescope_chain_create(stages, &settings, &chain_);
        }
        check(status);
    }
    ~Chain() { free(chain_); }
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;

    void close() {
        if (!chain_) // ending it twice through this function is fine
            return;
        free(std::exchange(chain_, nullptr));
        if (const Turn turn(turn_); turn.has()) // otherwise another thread is using them
            const std::deque<Held> gone = std::exchange(held_, {});
    }
    void add(const nb::str& stage) const { check(specklescope_chain_add(chain_, c_text(stage))); }
    void replace(const nb::str& text) const { check(specklescope_chain_replace(chain_, c_text(text))); }
    void set(const nb::str& stage, const nb::str& values) const {
        check(specklescope_chain_set_values(chain_, c_text(stage), c_text(values)));
    }
    std::string get(const nb::str& stage, const nb::str& name) const {
        const char* const place = c_text(stage);
        const char* const parameter = c_text(name);
        return text_of([&](char* text, std::size_t size, std::size_t* needed) {
            return specklescope_chain_get_value(chain_, place, parameter, text, size, needed);
        });
    }
    std::string text() const {
        return text_of([&](char* text, std::size_t size, std::size_t* needed) {
            return specklescope_chain_text(chain_, text, size, needed);
        });
    }
    void reset() const { check(specklescope_chain_reset(chain_)); }
    void set_regions(const nb::str& json) const {
        check(specklescope_chain_set_regions(chain_, c_text(json)));
    }
    std::string regions() const {
        return text_of([&](char* text, std::size_t size, std::size_t* needed) {
            return specklescope_chain_regions(chain_, text, size, needed);
        });
    }

    nb::object process(nb::handle frame, nb::handle out, double exposure_ms, double full_scale,
                       std::int64_t time_ns) {
        const Given given = placed(frame, frame_of);
        auto facts = sized<specklescope_facts>();
        facts.exposure_ms = exposure_ms;
        facts.full_scale = full_scale;
        facts.time_ns = time_ns;
        if (!out.is_none()) {
            const Given place = placed(out, output_of);
            check(run(given.image, facts, place.image));
            if (pending_) { // the fourth call from here starts after the library is done with it
                held_.emplace_back(given.holder, place.holder);
                if (held_.size() > 4) {
                    const Held oldest =
                        std::move(held_.front()); // its destructor may run Python: not inside pop_front
                    held_.pop_front();
                }
            }
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
            made = now; // another thread's edit has changed the shape of the result
        }
    }

    /// (shape, type) of the result for a frame.
    nb::tuple output(nb::handle frame) const {
        const auto without_pixels = [](nb::handle array) { return Given{{}, shape_of_frame(array), {}}; };
        const specklescope_image made = shape(placed(frame, without_pixels).image);
        return nb::make_tuple(made.channels == 3 ? nb::make_tuple(made.height, made.width, 3)
                                                 : nb::make_tuple(made.height, made.width),
                              made.type);
    }
    /// (memory, address) for a result on the chain's GPU.
    nb::tuple memory(const nb::tuple& shape, int type, std::uintptr_t stream, nb::object keeps) const {
        return device_memory(chain_, DevicePixels(shape, type, stream).image(), std::move(keeps));
    }

    /// Host memory that the chain reads and writes at full speed; freed with the last array that uses it.
    nb::object host_memory(std::size_t bytes) const {
        void* data = nullptr;
        specklescope_memory* memory = nullptr;
        specklescope_status status = SPECKLESCOPE_OK;
        specklescope_chain* const chain = chain_;
        {
            const WithoutGil others_run; // locking pages takes long
            status = specklescope_memory_create_host(chain, bytes, &data, &memory);
        }
        check(status);
        const nb::capsule owner(memory, [](void* handle) noexcept {
            specklescope_memory_free(static_cast<specklescope_memory*>(handle));
        });
        return nb::cast(nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>(data, {bytes}, owner));
    }

    /// Facts of one consistent result: a dictionary, and a list of its regions.
    nb::tuple result() {
        if (pending_) {
            Told made;
            const Turn turn(turn_);
            turn.need();
            specklescope_chain* const chain = chain_;
            specklescope_status status = SPECKLESCOPE_OK;
            {
                const WithoutGil others_run;
                status = specklescope_chain_result(chain, &made.numbers);
                if (status == SPECKLESCOPE_OK)
                    status = made.copy_texts(chain);
            }
            check(status);
            settle(std::move(made));
        }
        const Told last = last_; // Python objects may run the collector, and another thread
        nb::list regions;
        for (const Region& region : last.regions) {
            specklescope_region told = region.numbers;
            told.name = region.name.c_str();
            told.shape = region.shape.c_str();
            told.fit = region.fit.c_str();
            regions.append(to_dict(told));
        }
        specklescope_result told = last.numbers;
        told.quantity = last.quantity.c_str();
        told.symbol = last.symbol.c_str();
        told.unit = last.unit.c_str();
        return nb::make_tuple(to_dict(told), regions);
    }

    /// The further images of the last result: name → (copy of the pixels, facts).
    nb::dict also() {
        nb::dict all;
        const Turn turn(turn_);
        turn.need();
        for (std::size_t i = 0;; ++i) {
            const char* name = nullptr;
            auto image = sized<specklescope_image>();
            auto result = sized<specklescope_result>();
            check(specklescope_chain_also(chain_, i, &name, &image, &result));
            if (!name)
                return all;
            specklescope_image copy = image;
            nb::object array = new_array(copy);
            const auto row = static_cast<std::size_t>(image.width) * sizeof(float);
            for (std::int32_t y = 0; y < image.height; ++y)
                std::memcpy(static_cast<char*>(copy.data) + static_cast<std::size_t>(y) * row,
                            static_cast<const char*>(image.data) + static_cast<std::size_t>(y) * image.pitch,
                            row);
            all[name] = nb::make_tuple(array, to_dict(result));
        }
    }

    nb::object progress; ///< called during long preparations; None: no callback

private:
    /// Waits for work on the GPU; the caller's stream in it may need Python.
    static void free(specklescope_chain* chain) {
        const WithoutGil others_run;
        specklescope_chain_free(chain);
    }
    static Given placed(nb::handle array, Given (*of_host)(nb::handle)) {
        DevicePixels* pixels = nullptr;
        if (!nb::try_cast(array, pixels, false) || !pixels)
            return of_host(array);
        return {pixels->holder, pixels->image(), {}};
    }
    /// Allows only one thread at a time.
    class Turn {
    public:
        explicit Turn(std::atomic<bool>& taken) : taken_(taken), has_(!taken.exchange(true)) {}
        ~Turn() {
            if (has_)
                taken_ = false;
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        bool has() const { return has_; }
        void need() const {
            if (!has_)
                throw Failure{SPECKLESCOPE_BUSY,
                              "Another thread is using this chain; let one use it at a time, or "
                              "give each its own."};
        }

    private:
        std::atomic<bool>& taken_;
        const bool has_;
    };

    specklescope_image shape(const specklescope_image& input) const {
        auto made = sized<specklescope_image>();
        specklescope_status status = SPECKLESCOPE_OK;
        specklescope_chain* const chain = chain_; // while the GIL is held, as in close()
        {
            const WithoutGil others_run;
            status = specklescope_chain_output(chain, &input, &made);
        }
        check(status);
        return made;
    }
    specklescope_status run(const specklescope_image& input, const specklescope_facts& facts,
                            const specklescope_image& output) {
        Told made;
        specklescope_chain* const chain = chain_;
        // The library's texts are valid until its next call with this chain: keep the turn until they are
        // copied.
        const Turn turn(turn_);
        turn.need();
        const bool waits = input.memory == SPECKLESCOPE_HOST || output.memory == SPECKLESCOPE_HOST;
        {
            const WithoutGil others_run;
            specklescope_status status =
                specklescope_chain_process(chain, &input, &facts, &output, waits ? &made.numbers : nullptr);
            if (status == SPECKLESCOPE_OK && waits)
                status = made.copy_texts(chain);
            if (status != SPECKLESCOPE_OK)
                return status;
        }
        if (waits)
            settle(std::move(made));
        else
            pending_ = true;
        return SPECKLESCOPE_OK;
    }

    static specklescope_result no_result() {
        auto none = sized<specklescope_result>();
        none.exposure_origin = "unknown";
        none.measure = "intensity";
        return none;
    }

    using Held = std::pair<nb::object, nb::object>;
    struct Region {
        specklescope_region numbers; ///< its texts point to the strings after it
        std::string name, shape, fit;
    };
    /// Copy of the facts of one result.
    struct Told {
        specklescope_result numbers = no_result(); ///< its texts point to the strings after it
        std::string quantity, symbol, unit;
        std::vector<Region> regions{};

        /// Copies the texts of the library, which are valid until the next call with this chain.
        specklescope_status copy_texts(specklescope_chain* chain) {
            quantity = numbers.quantity;
            symbol = numbers.symbol;
            unit = numbers.unit;
            for (std::size_t i = 0; i < numbers.regions; ++i) {
                auto region = sized<specklescope_region>();
                const specklescope_status status = specklescope_chain_region(chain, i, &region);
                if (status != SPECKLESCOPE_OK)
                    return status;
                regions.push_back({region, region.name, region.shape, region.fit});
            }
            return SPECKLESCOPE_OK;
        }
    };
    /// Call when no GPU work is pending.
    void settle(Told made) {
        last_ = std::move(made);
        pending_ = false;
        const std::deque<Held> gone = std::exchange(held_, {}); // may run Python and other threads
    }

    specklescope_chain* chain_ = nullptr;
    std::atomic<bool> turn_{false}; ///< a thread is between its call and the end of the copies
    Told last_;                     ///< guarded by the GIL, like the members below
    bool pending_ = false;          ///< the facts of the last result are still in the library
    std::deque<Held> held_;         ///< frames and results that a GPU may be using
};

} // namespace

void add_chain(nb::module_& module) {
    nb::class_<Chain>(module, "Chain", nb::is_weak_referenceable(), nb::type_slots(with_progress<Chain>()))
        .def(nb::init<const nb::str&, const nb::dict&, nb::object>(), nb::arg("text"), nb::arg("told"),
             nb::arg("progress").none())
        .def("close", &Chain::close)
        .def("add", &Chain::add, nb::arg("stage"))
        .def("replace", &Chain::replace, nb::arg("text"))
        .def("set", &Chain::set, nb::arg("stage"), nb::arg("values"))
        .def("get", &Chain::get, nb::arg("stage"), nb::arg("name"))
        .def("text", &Chain::text)
        .def("reset", &Chain::reset)
        .def("set_regions", &Chain::set_regions, nb::arg("json"))
        .def("regions", &Chain::regions)
        .def("process", &Chain::process, nb::arg("frame").none(), nb::arg("out").none(),
             nb::arg("exposure_ms"), nb::arg("full_scale"), nb::arg("time_ns"))
        .def("output", &Chain::output, nb::arg("frame"))
        .def("memory", &Chain::memory, nb::arg("shape"), nb::arg("type"), nb::arg("stream"),
             nb::arg("keeps").none())
        .def("host_memory", &Chain::host_memory, nb::arg("bytes"))
        .def("result", &Chain::result)
        .def("also", &Chain::also);
}

} // namespace door
