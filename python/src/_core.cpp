// specklescope._core: the C ABI for Python. The public interface is in __init__.py.
#include "_core.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace door {

namespace {

/// Set by the package, so that `except specklescope.UsageError` catches these errors.
PyObject* usage_error = PyExc_ValueError;
PyObject* run_error = PyExc_RuntimeError;

/// Called on the thread that called the library: its caller receives an exception that is set here.
int ask_python(void* user, const char* what, double part) {
    const WithGil gil;
    if (PyErr_Occurred() || PyErr_CheckSignals() != 0)
        return 0;
    const nb::object progress = *static_cast<const nb::object*>(user);
    if (progress.is_none())
        return 1;
    try {
        const nb::object how_far = part < 0 ? nb::object(nb::none()) : nb::cast(part);
        const nb::object said = staying_at_exit([&] { return progress(what, how_far); });
        return said.ptr() == Py_False ? 0 : 1;
    } catch (nb::python_error& raised) {
        raised.restore();
        return 0;
    }
}

PyObject* error_of(specklescope_status status) {
    switch (status) {
    case SPECKLESCOPE_USAGE_ERROR:
    case SPECKLESCOPE_BAD_HANDLE:
    case SPECKLESCOPE_BUSY:
        return usage_error;
    case SPECKLESCOPE_TIMEOUT:
        return PyExc_TimeoutError;
    case SPECKLESCOPE_END:
        return PyExc_StopIteration;
    default:
        return run_error;
    }
}

/// Message of the failure. The library's messages about handles do not fit here: every object has a handle
/// until it is closed. Forked processes have a message of their own.
std::string sentence_of(const Failure& failure) {
    static constexpr std::array<std::array<const char*, 2>, 2> kMakers{
        {{"stream", "ss.open"}, {"chain", "ss.Chain"}}};
    if (failure.status == SPECKLESCOPE_BAD_HANDLE)
        for (const auto& [kind, maker] : kMakers)
            for (const char* const begin : {"This is no ", "The "})
                if (failure.sentence.rfind(begin + std::string(kind) + " ", 0) == 0)
                    return std::string("The ") + kind + " has been closed; " + maker + " gives another one.";
    return failure.sentence;
}

/// Kind of a parameter; a later library may have more kinds.
std::string kind_of(std::int32_t kind) {
    static constexpr std::array<const char*, 7> kKinds = {"boolean", "integer", "real",  "choice",
                                                          "text",    "path",    "action"};
    if (kind < 0 || static_cast<std::size_t>(kind) >= kKinds.size())
        return "kind " + std::to_string(kind);
    return kKinds[static_cast<std::size_t>(kind)];
}

/// Parameters from `describe(owner, index, info)`.
template <class Describe> nb::list parameters_of(const char* owner, std::size_t count, Describe&& describe) {
    nb::list parameters;
    for (std::size_t i = 0; i < count; ++i) {
        auto info = sized<specklescope_parameter_info>();
        check(describe(owner, i, &info));
        nb::list choices;
        for (const char* const* name = info.choices; name && *name; ++name)
            choices.append(*name);
        nb::dict parameter;
        parameter["name"] = info.name;
        parameter["kind"] = kind_of(info.kind);
        parameter["doc"] = info.doc;
        parameter["unit"] = info.unit;
        parameter["default"] = info.default_value;
        parameter["allowed"] = info.allowed;
        parameter["choices"] = choices;
        parameter["minimum"] = info.minimum;
        parameter["maximum"] = info.maximum;
        parameters.append(parameter);
    }
    return parameters;
}

nb::list stages() {
    nb::list all;
    std::size_t count = 0;
    check(specklescope_stage_count(&count));
    for (std::size_t i = 0; i < count; ++i) {
        auto stage = sized<specklescope_stage_info>();
        check(specklescope_stage_describe(i, &stage));
        nb::dict one;
        one["name"] = stage.name;
        one["doc"] = stage.doc;
        one["stateful"] = stage.stateful != 0;
        one["parameters"] = parameters_of(stage.name, stage.parameters, specklescope_parameter_describe);
        all.append(one);
    }
    return all;
}

nb::list sources() {
    nb::list all;
    std::size_t count = 0;
    check(specklescope_source_count(&count));
    for (std::size_t i = 0; i < count; ++i) {
        auto source = sized<specklescope_source_kind>();
        check(specklescope_source_describe(i, &source));
        nb::dict one;
        one["name"] = source.name;
        one["syntax"] = source.syntax;
        one["doc"] = source.doc;
        one["options"] = parameters_of(source.name, source.options, specklescope_source_option_describe);
        all.append(one);
    }
    return all;
}

/// Python literal in ASCII; shortened if long.
std::string shown(nb::handle text) {
    constexpr std::size_t kMost = 80;
    const nb::object ascii = nb::steal(PyObject_ASCII(text.ptr()));
    if (!ascii.is_valid())
        throw nb::python_error();
    std::string made = nb::cast<std::string>(ascii);
    return made.size() <= kMost ? made : made.substr(0, kMost) + "...";
}

} // namespace

const char* c_text(nb::handle text) {
    if (!PyUnicode_Check(text.ptr()))
        throw Failure{SPECKLESCOPE_USAGE_ERROR, "The value " + shown(text) + " is no text; allowed: a str."};
    Py_ssize_t size = 0;
    const char* const read = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (!read) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            throw nb::python_error();
        PyErr_Clear();
        throw Failure{
            SPECKLESCOPE_USAGE_ERROR,
            "The text " + shown(text) +
                " cannot be written as UTF-8; allowed: texts that can: rename a file of such a name."};
    }
    if (std::string_view(read, static_cast<std::size_t>(size)).find('\0') != std::string_view::npos)
        throw Failure{SPECKLESCOPE_USAGE_ERROR,
                      "The text " + shown(text) +
                          " has a NUL in it, where it would end; allowed: texts without one: leave it out."};
    return read;
}

const char* c_text(const nb::dict& told, const char* name) {
    if (!told.contains(name))
        return nullptr;
    const nb::handle text = PyDict_GetItemString(told.ptr(), name); // the dictionary keeps it alive
    return text.is_none() ? nullptr : c_text(text);
}

specklescope_settings settings_of(const nb::dict& told, nb::object& progress) {
    const auto text = [&](const char* name) { return c_text(told, name); };
    auto settings = sized<specklescope_settings>();
    settings.options = text("options");
    settings.regions = text("regions");
    settings.regions_json = text("regions_json");
    settings.view = text("view");
    settings.trusted = told.contains("trusted") && nb::cast<bool>(told["trusted"]) ? 1 : 0;
    settings.goes_on = ask_python;
    settings.user = &progress;
    return settings;
}

nb::dict to_dict(const specklescope_result& result) {
    nb::dict made;
    made["sequence"] = result.sequence;
    made["version"] = result.version;
    made["time_ns"] = result.time_ns;
    made["exposure_ms"] = result.exposure_ms > 0 ? nb::cast(result.exposure_ms) : nb::none();
    made["exposure_origin"] = result.exposure_origin;
    made["quantity"] = result.quantity;
    made["symbol"] = result.symbol;
    made["unit"] = result.unit;
    made["measure"] = result.measure;
    nb::dict counts;
    counts["undefined"] = result.undefined;
    counts["infinite"] = result.infinite;
    counts["saturated"] = result.saturated;
    counts["windows"] = result.windows;
    counts["raw_saturated"] = result.raw_saturated;
    counts["raw_samples"] = result.raw_samples;
    made["counts"] = counts;
    made["warmup"] = nb::make_tuple(result.warmup_frames, result.warmup_wanted);
    made["warming_up"] = result.warming_up != 0;
    made["regions"] = result.regions;
    made["arrival_ns"] = result.arrival_ns;
    made["position"] = result.position >= 0 ? nb::cast(result.position) : nb::none();
    return made;
}

nb::dict to_dict(const specklescope_region& region) {
    nb::dict made;
    made["name"] = region.name;
    made["shape"] = region.shape;
    made["fit"] = region.fit;
    made["mean"] = region.mean;
    made["mean_of_map"] = region.mean_of_map;
    made["std"] = region.standard_deviation;
    made["min"] = region.minimum;
    made["max"] = region.maximum;
    made["median"] = region.median;
    made["pixels"] = region.pixels;
    made["valid"] = region.valid;
    made["infinite"] = region.infinite;
    made["undefined"] = region.undefined;
    made["saturated"] = region.saturated >= 0 ? nb::cast(region.saturated) : nb::none();
    return made;
}

} // namespace door

NB_MODULE(_core_of_main, module) {
    using namespace door;
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const Failure& failure) {
            if (!PyErr_Occurred()) // KeyboardInterrupt is already set after Ctrl-C
                PyErr_SetString(error_of(failure.status), sentence_of(failure).c_str());
        }
    });
    module.def("use_errors", [](nb::type_object usage, nb::type_object run) {
        usage_error = usage.release().ptr();
        run_error = run.release().ptr();
    });
    module.def("version", [] { return std::string(specklescope_version()); });
    module.def("recording", [](const nb::str& path) {
        const char* const file = c_text(path);
        return text_of([&](char* text, std::size_t size, std::size_t* needed) {
            const WithoutGil others_run;
            return specklescope_recording_text(file, text, size, needed);
        });
    });
    module.def("region_mask", [](const nb::str& json, std::size_t index, int width, int height) {
        std::vector<std::uint8_t> mask(static_cast<std::size_t>(std::clamp(width, 1, 65536)) *
                                       static_cast<std::size_t>(std::clamp(height, 1, 65536)));
        check(specklescope_region_mask(c_text(json), index, width, height, mask.data()));
        return nb::bytes(mask.data(), mask.size());
    });
    module.def("stages", &stages);
    module.def("sources", &sources);
    add_chain(module);
    add_device(module);
    add_stream(module);
    add_recorder(module);
}

/// Replaces nanobind's function. nanobind has one state per process: initialised in a second interpreter, it
/// would end with that and break the first. Callbacks in a subinterpreter's thread would also fail.
extern "C" NB_EXPORT PyObject* PyInit__core() {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0)
        return PyInit__core_of_main();
    PyErr_SetString(PyExc_ImportError, "specklescope does not run in a subinterpreter; import it in the main "
                                       "interpreter, or in a process of its own.");
    return nullptr;
}
