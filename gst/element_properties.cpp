#include "gst/declarations.hpp"
#include "gst/element.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace specklescope::element {

namespace {

enum Own : guint { kChain = 1, kEdit, kOptions, kRegions, kExposure, kFullScale, kValues, kOutput };

constexpr auto kPlaying = static_cast<GParamFlags>(G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING);
constexpr auto kBefore = static_cast<GParamFlags>(G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY);
constexpr auto kFollows = static_cast<GParamFlags>(kPlaying | GST_PARAM_CONTROLLABLE);

std::string string_of(const GValue* value) {
    const gchar* const text = g_value_get_string(value);
    return text ? text : "";
}

constexpr const char* kEditName = "edit";

thread_local bool following = false; ///< true while a controller sets properties

/// "1.sigma=2", "speckle.radius=5".
void edit(State& state, const std::string& text) {
    const std::size_t equal = text.find('='), dot = text.substr(0, equal).find('.');
    if (equal == std::string::npos || dot == std::string::npos || dot == 0 || dot + 1 == equal)
        throw Refusal(SPECKLESCOPE_USAGE_ERROR,
                      "edit: '" + text +
                          "' is not of the form PLACE.PARAMETER=VALUE; write "
                          "1.sigma=2, or speckle.radius=5 where one has that name.");
    const std::string place = text.substr(0, dot), name = text.substr(dot + 1, equal - dot - 1),
                      value = text.substr(equal + 1);
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(place.data(), place.data() + place.size(), number);
    if (error == std::errc() && end == place.data() + place.size())
        state.chain.set(number, name, value);
    else
        state.chain.set(place, name, value);
}

/// Stores why a property was refused until the start; an empty sentence removes the reason.
void note(Element& element, const std::string& property, const std::string& sentence) {
    State& state = *element.state;
    bool said = false, started = false;
    {
        const std::scoped_lock lock(state.lock);
        started = state.started;
        const auto before = state.wrong.find(property);
        said = before != state.wrong.end() && before->second == sentence;
        if (!sentence.empty())
            state.wrong[property] = sentence;
        else if (property != kEditName) // a valid edit does not cancel an invalid one
            state.wrong.erase(property);
    }
    if (started && !sentence.empty() && !(following && said))
        post_warning(element, sentence);
}

/// Sets the values that were set before their stage existed.
void set_waiting(Element& element) {
    State& state = *element.state;
    std::map<std::size_t, std::string> waiting;
    {
        const std::scoped_lock lock(state.lock);
        waiting.swap(state.waiting);
    }
    for (const auto& [index, value] : waiting) {
        const Declared& declared = declarations().at(index);
        try {
            if (state.chain.get(declared.stage, declared.info.name)) {
                state.chain.set(declared.stage, declared.info.name, value);
                continue;
            }
        } catch (const Refusal& refusal) {
            note(element, declared.property, refusal.what());
            continue;
        }
        const std::scoped_lock lock(state.lock);
        state.waiting.emplace(index, value);
    }
}

void set_declared(State& state, std::size_t index, const GValue& value) {
    const Declared& declared = declarations().at(index);
    const std::string text = text_of(declared, value);
    if (declared.stage.empty())
        return state.view.set(declared.info.name, text);
    {
        const std::scoped_lock lock(state.lock); // the start checks waiting values under this lock
        if (!state.started && !state.chain.get(declared.stage, declared.info.name)) {
            state.waiting[index] = text;
            return;
        }
    }
    state.chain.set(declared.stage, declared.info.name, text);
}

void get_declared(State& state, std::size_t index, GValue& value) {
    const Declared& declared = declarations().at(index);
    std::optional<std::string> text = declared.stage.empty()
                                          ? state.view.get(declared.info.name)
                                          : state.chain.get(declared.stage, declared.info.name);
    if (!text) {
        const std::scoped_lock lock(state.lock);
        if (const auto waiting = state.waiting.find(index); waiting != state.waiting.end())
            text = waiting->second;
    }
    set_from_text(declared, text.value_or(declared.info.default_value), value);
}

/// Requires the lock.
std::string& text_property(State& state, guint id) {
    return id == kOptions ? state.options : id == kRegions ? state.regions : state.output_name;
}

void set_own(Element& element, guint id, const GValue* value) {
    State& state = *element.state;
    switch (id) {
    case kChain:
        state.chain.replace(string_of(value));
        set_waiting(element);
        break;
    case kEdit:
        edit(state, string_of(value));
        break;
    case kOptions:
    case kRegions:
    case kOutput: {
        const std::scoped_lock lock(state.lock);
        text_property(state, id) = string_of(value);
        break;
    }
    case kExposure:
        state.exposure_ms = g_value_get_double(value);
        break;
    case kFullScale:
        state.full_scale = g_value_get_double(value);
        break;
    case kValues:
        state.values = g_value_get_boolean(value) != FALSE;
        break;
    default:
        break;
    }
}

} // namespace

void install_properties(GObjectClass* object_class) {
    const auto text = [&](guint id, const char* name, const char* blurb, GParamFlags flags) {
        g_object_class_install_property(object_class, id,
                                        g_param_spec_string(name, name, blurb, nullptr, flags));
    };
    text(
        kChain, "chain",
        "stages joined by |, as 'background:black=64 | speckle:radius=3'; empty or none: frames as they are. "
        "Replacing it keeps the history of the stages before the first that differs",
        kPlaying);
    text(kEdit, kEditName,
         "sets one parameter of a stage by its place, counted from 0, as 1.sigma=2, or by its name where the "
         "chain has one of that name, as speckle.radius=5",
         static_cast<GParamFlags>(G_PARAM_WRITABLE | GST_PARAM_MUTABLE_PLAYING));
    text(kOptions, "options",
         "where and how it computes, with the names of the command line: backend (auto, cpu, cuda), threads, "
         "channel, medians, as backend=cpu,threads=2",
         kBefore);
    text(kRegions, "regions",
         "a file of regions, JSON or of ImageJ, that are measured on every result; the numbers are in the "
         "meta "
         "SpecklescopeResult of its buffer",
         kBefore);
    text(kOutput, "output",
         "the further image of the chain that goes out instead of the last one, by its name: contrast, with "
         "chain=speckle:also=contrast; empty: the last one",
         kBefore);
    constexpr double kMost = std::numeric_limits<double>::max();
    g_object_class_install_property(
        object_class, kExposure,
        g_param_spec_double(
            "exposure", "exposure",
            "exposure time of the frames in ms, where it is known; 0: the stage's own is taken", 0, kMost, 0,
            kFollows));
    g_object_class_install_property(
        object_class, kFullScale,
        g_param_spec_double(
            "full-scale", "full-scale",
            "largest value that the camera gives, in its counts: 4095 for 12 bits in 16; samples "
            "at it count as saturated. 0: that of the format",
            0, kMost, 0, kFollows));
    g_object_class_install_property(
        object_class, kValues,
        g_param_spec_boolean(
            "values", "values",
            "pictures (RGBA, RGB, GRAY16_LE, GRAY8) have the exact numbers with them: a GstSample of "
            "application/x-specklescope in the field values of the meta SpecklescopeResult. Takes effect "
            "with "
            "the next frame; numbers that go out themselves have no second copy",
            FALSE, kPlaying));
    install_declared(object_class);
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
    auto& element = *reinterpret_cast<Element*>(object);
    std::string sentence;
    try {
        if (id >= kFirstDeclared)
            set_declared(*element.state, id - kFirstDeclared, *value);
        else
            set_own(element, id, value);
    } catch (const std::exception& refusal) {
        sentence = refusal.what();
    }
    note(element, spec->name, sentence);
}

void follow_controllers(Element& element, GstClockTime time) {
    following = true;
    gst_object_sync_values(GST_OBJECT(&element), time);
    following = false;
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
    State& state = state_of(object);
    try {
        if (id >= kFirstDeclared)
            return get_declared(state, id - kFirstDeclared, *value);
        switch (id) {
        case kChain:
            return g_value_set_string(value, state.chain.text().c_str());
        case kOptions:
        case kRegions:
        case kOutput: {
            const std::scoped_lock lock(state.lock);
            return g_value_set_string(value, text_property(state, id).c_str());
        }
        case kExposure:
            return g_value_set_double(value, state.exposure_ms);
        case kFullScale:
            return g_value_set_double(value, state.full_scale);
        case kValues:
            return g_value_set_boolean(value, state.values);
        default:
            return g_param_value_set_default(spec, value);
        }
    } catch (const std::exception& refusal) {
        GST_WARNING_OBJECT(object, "%s: %s", spec->name, refusal.what());
    }
}

bool check_properties(Element& element) {
    State& state = *element.state;
    std::string wrong;
    std::map<std::size_t, std::string> waiting;
    {
        const std::scoped_lock lock(state.lock);
        if (const auto first = state.wrong.begin(); first != state.wrong.end()) {
            wrong = first->second;
            if (first->first == kEditName) // an invalid edit cannot be withdrawn otherwise
                state.wrong.erase(first);
        }
        waiting = state.waiting;
        state.started = wrong.empty(); // later errors are reported at once
    }
    if (!wrong.empty()) {
        post_error(element, wrong);
        return false;
    }
    for (const auto& [index, value] : waiting) {
        const Declared& declared = declarations().at(index);
        try {
            state.chain.set(declared.stage, declared.info.name, value);
        } catch (const Refusal& refusal) {
            post_warning(element, declared.property + " has no effect: " + refusal.what());
        }
    }
    return true;
}

} // namespace specklescope::element
