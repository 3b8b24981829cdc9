#include "gst/declarations.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <limits>
#include <memory>

namespace specklescope::element {

namespace {

std::string with_dashes(std::string name) {
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

std::vector<Declared> all_declarations() {
    std::vector<Declared> all;
    std::size_t stages = 0;
    check(specklescope_stage_count(&stages));
    for (std::size_t i = 0; i < stages; ++i) {
        auto stage = sized<specklescope_stage_info>();
        check(specklescope_stage_describe(i, &stage));
        for (std::size_t k = 0; k < stage.parameters; ++k) {
            Declared one{stage.name, sized<specklescope_parameter_info>(), ""};
            check(specklescope_parameter_describe(stage.name, k, &one.info));
            one.property = with_dashes(one.stage + "-" + one.info.name);
            all.push_back(std::move(one));
        }
    }
    std::size_t of_view = 0;
    check(specklescope_view_count(&of_view));
    for (std::size_t k = 0; k < of_view; ++k) {
        Declared one{"", sized<specklescope_parameter_info>(), ""};
        check(specklescope_view_describe(k, &one.info));
        one.property = with_dashes(one.info.name);
        all.push_back(std::move(one));
    }
    return all;
}

/// "SpecklescopeSpeckleOutput" for speckle-output.
std::string type_name(const std::string& property) {
    std::string name = "Specklescope";
    bool begins = true;
    for (const char c : property) {
        if (c != '-')
            name += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        begins = c == '-';
    }
    return name;
}

/// GLib keeps the names and numbers forever.
GType enum_of(const Declared& declared) {
    static auto* const kept = std::make_unique<std::deque<std::vector<GEnumValue>>>().release();
    std::vector<GEnumValue>& values = kept->emplace_back();
    for (const char* const* name = declared.info.choices; *name; ++name)
        values.push_back({static_cast<gint>(values.size()), *name, *name});
    values.push_back({0, nullptr, nullptr});
    return g_enum_register_static(type_name(declared.property).c_str(), values.data());
}

gint whole(double value) {
    return static_cast<gint>(std::clamp(value, static_cast<double>(std::numeric_limits<gint>::min()),
                                        static_cast<double>(std::numeric_limits<gint>::max())));
}

gint choice_of(const Declared& declared, const std::string& text) {
    for (gint i = 0; declared.info.choices[i]; ++i)
        if (text == declared.info.choices[i])
            return i;
    return 0;
}

std::string blurb_of(const Declared& declared) {
    std::string text = declared.info.doc;
    switch (declared.info.kind) {
    case SPECKLESCOPE_INTEGER:
    case SPECKLESCOPE_REAL:
        text += std::string(". ") + declared.info.allowed;
        break;
    case SPECKLESCOPE_ACTION:
        text += ". Each higher number acts once";
        break;
    default:
        break;
    }
    return text;
}

/// Parameters that rebuild a stage are not controllable, because a controller sets them with every frame.
GParamFlags flags_of(const Declared& declared) {
    const bool follows = !declared.info.rebuilds && declared.info.kind != SPECKLESCOPE_TEXT &&
                         declared.info.kind != SPECKLESCOPE_PATH && declared.info.kind != SPECKLESCOPE_ACTION;
    return static_cast<GParamFlags>(G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING |
                                    (follows ? GST_PARAM_CONTROLLABLE : 0));
}

void judge_nothing(gpointer of_class, gpointer) {
    auto* spec = static_cast<GParamSpecClass*>(of_class);
    spec->value_validate = [](GParamSpec*, GValue*) -> gboolean { return FALSE; };
#if GLIB_CHECK_VERSION(2, 74, 0)
    spec->value_is_valid = [](GParamSpec*, const GValue*) -> gboolean { return TRUE; };
#endif
}

/// GType of a range. The library checks the values, since its messages contain more than GObject's.
GType told_range(GType numbers, const char* name) {
    GTypeQuery parent{};
    g_type_query(numbers, &parent);
    GTypeInfo info{};
    info.class_size = static_cast<guint16>(parent.class_size);
    info.instance_size = static_cast<guint16>(parent.instance_size);
    info.class_init = &judge_nothing;
    return g_type_register_static(numbers, name, &info, GTypeFlags{});
}

/// GParamSpecInt or GParamSpecDouble.
template <class Spec, class Number> GParamSpec* number_spec(GType type, const char* name, const char* blurb,
                                                            Number least, Number most, Number usual,
                                                            GParamFlags flags) {
    auto* spec = static_cast<Spec*>(g_param_spec_internal(type, name, name, blurb, flags));
    spec->minimum = least;
    spec->maximum = most;
    spec->default_value = usual;
    return &spec->parent_instance;
}

GParamSpec* spec_of(const Declared& declared) {
    static const GType whole_number = told_range(G_TYPE_PARAM_INT, "SpecklescopeParamInt");
    static const GType number = told_range(G_TYPE_PARAM_DOUBLE, "SpecklescopeParamDouble");
    const specklescope_parameter_info& info = declared.info;
    const std::string blurb = blurb_of(declared), nick = declared.property;
    const char* const name = declared.property.c_str();
    const GParamFlags flags = flags_of(declared);
    const std::string usual = info.default_value;
    switch (info.kind) {
    case SPECKLESCOPE_BOOLEAN:
        return g_param_spec_boolean(name, nick.c_str(), blurb.c_str(), usual == "true", flags);
    case SPECKLESCOPE_INTEGER:
        return number_spec<GParamSpecInt>(whole_number, name, blurb.c_str(), whole(info.minimum),
                                          whole(info.maximum), whole(g_ascii_strtod(usual.c_str(), nullptr)),
                                          flags);
    case SPECKLESCOPE_ACTION:
        return g_param_spec_int(name, nick.c_str(), blurb.c_str(), 0, std::numeric_limits<gint>::max(), 0,
                                flags);
    case SPECKLESCOPE_REAL:
        return number_spec<GParamSpecDouble>(number, name, blurb.c_str(), info.minimum, info.maximum,
                                             g_ascii_strtod(usual.c_str(), nullptr), flags);
    case SPECKLESCOPE_CHOICE:
        return g_param_spec_enum(name, nick.c_str(), blurb.c_str(), enum_of(declared),
                                 choice_of(declared, usual), flags);
    default:
        return g_param_spec_string(name, nick.c_str(), blurb.c_str(), usual.c_str(), flags);
    }
}

} // namespace

const std::vector<Declared>& declarations() {
    static const std::vector<Declared> all = all_declarations();
    return all;
}

void install_declared(GObjectClass* object_class) {
    guint id = kFirstDeclared;
    for (const Declared& declared : declarations())
        g_object_class_install_property(object_class, id++, spec_of(declared));
}

std::string text_of(const Declared& declared, const GValue& value) {
    switch (declared.info.kind) {
    case SPECKLESCOPE_BOOLEAN:
        return g_value_get_boolean(&value) ? "true" : "false";
    case SPECKLESCOPE_INTEGER:
    case SPECKLESCOPE_ACTION:
        return std::to_string(g_value_get_int(&value));
    case SPECKLESCOPE_REAL: {
        std::array<gchar, G_ASCII_DTOSTR_BUF_SIZE> text{};
        return g_ascii_dtostr(text.data(), static_cast<gint>(text.size()), g_value_get_double(&value));
    }
    case SPECKLESCOPE_CHOICE:
        return declared.info.choices[g_value_get_enum(&value)];
    default: {
        const gchar* const text = g_value_get_string(&value);
        return text ? text : "";
    }
    }
}

void set_from_text(const Declared& declared, const std::string& text, GValue& value) {
    switch (declared.info.kind) {
    case SPECKLESCOPE_BOOLEAN:
        g_value_set_boolean(&value, text == "true");
        break;
    case SPECKLESCOPE_INTEGER:
    case SPECKLESCOPE_ACTION:
        g_value_set_int(&value, whole(g_ascii_strtod(text.c_str(), nullptr)));
        break;
    case SPECKLESCOPE_REAL:
        g_value_set_double(&value, g_ascii_strtod(text.c_str(), nullptr));
        break;
    case SPECKLESCOPE_CHOICE:
        g_value_set_enum(&value, choice_of(declared, text));
        break;
    default:
        g_value_set_string(&value, text.c_str());
    }
}

} // namespace specklescope::element
