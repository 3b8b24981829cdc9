#include "sources/gst/gst_untrusted.hpp"

#include "base/error.hpp"
#include "files/gst_handles.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace specklescope {

namespace {

constexpr auto npos = std::string_view::npos;

/// An element that reads, converts or passes frames. Properties are separated by blanks.
struct AllowedElement {
    std::string_view element;
    std::string_view properties;   ///< besides numbers, switches and choices
    std::string_view schemes = {}; ///< allowed in its address (location, uri)
    bool numbers = true;           ///< also all numbers, switches and choices
};

constexpr std::string_view kRtsp = "rtsp rtspt rtspu rtsph rtsps rtspst rtspsu rtspsh";

/// Decoders, parsers, depayloaders and demuxers are allowed too (is_codec), with their numbers. Excluded
/// because of their properties: multifilesrc (its location is a printf format), rtmpsrc (librtmp writes a
/// file), udpsrc and tcpserversrc (they listen), fdsrc.
constexpr AllowedElement kAllowed[] = {
    // Sources
    {"videotestsrc", ""},
    {"filesrc", "location"},
    {"v4l2src", "device extra-controls pixel-aspect-ratio"},
    {"libcamerasrc", "camera-name"},
    {"aravissrc", "camera-name"},
    {"nvarguscamerasrc", ""},
    {"decklinkvideosrc", ""},
    {"tcpclientsrc", "host"},
    {"shmsrc", "socket-path"},
    {"rtmp2src", "location", "rtmp rtmps"},
    // Other switches print the transferred data, passwords included.
    {"souphttpsrc",
     "location user-id user-pw user-agent proxy proxy-id proxy-pw extra-headers timeout retries is-live "
     "do-timestamp keep-alive compress ssl-strict num-buffers blocksize",
     "http https", false},
    {"rtspsrc",
     "location user-id user-pw user-agent proxy proxy-id proxy-pw multicast-iface port-range protocols "
     "latency timeout tcp-timeout retry drop-on-latency buffer-mode do-rtcp do-rtsp-keep-alive ntp-sync "
     "ntp-time-source rfc7273-sync is-live do-retransmission udp-reconnect udp-buffer-size "
     "connection-speed probation short-header max-rtcp-rtp-time-diff max-ts-offset nat-method select-stream",
     kRtsp, false},
    // Decoding
    {"decodebin", "caps sink-caps"},
    // Its switch `download` writes a file.
    {"uridecodebin",
     "uri caps connection-speed buffer-size buffer-duration use-buffering ring-buffer-max-size "
     "expose-all-streams force-sw-decoders",
     "file v4l2 http https rtsp rtspt rtspu rtsph rtsps rtspst rtspsu rtspsh", false},
    {"typefind", ""},
    {"rawvideoparse", "colorimetry"},
    {"multipartdemux", "boundary"},
    {"rtpjitterbuffer", ""},
    // Queues and filters
    {"queue", ""},
    {"queue2", ""},
    {"multiqueue", ""},
    {"tee", ""},
    {"valve", ""},
    {"concat", ""},
    {"funnel", ""},
    {"input-selector", ""},
    {"clocksync", ""},
    {"imagefreeze", ""},
    {"capsfilter", "caps"},
    {"capssetter", "caps"},
    // Their switch `dump` prints the bytes of all frames.
    {"identity",
     "silent sync drop-probability drop-buffer-flags error-after eos-after sleep-time datarate "
     "single-segment "
     "ts-offset check-imperfect-timestamp check-imperfect-offset",
     {},
     false},
    {"fakesink", "silent sync async num-buffers enable-last-sample", {}, false},
    {"fakevideosink", "sync", {}, false},
    // Conversion
    {"videoconvert", ""},
    {"videoscale", ""},
    {"videoconvertscale", ""},
    {"videorate", ""},
    {"videocrop", ""},
    {"aspectratiocrop", "aspect-ratio"},
    {"videobox", ""},
    {"videoflip", ""},
    {"videobalance", ""},
    {"videomedian", ""},
    {"gamma", ""},
    {"deinterlace", ""},
    {"compositor", ""},
    {"bayer2rgb", ""},
    {"rgb2bayer", ""},
    {"glupload", ""},
    {"glcolorconvert", ""},
    {"gldownload", ""},
    {"cudaupload", ""},
    {"cudaconvert", ""},
    {"cudadownload", ""},
    {"nvvidconv", ""},
    {"v4l2convert", ""},
    {"vapostproc", ""},
    {"vaapipostproc", ""},
    // Our own: the files in its texts are only read
    {"specklescope", "*"},
};

std::string_view factory_name(GstElementFactory* factory) {
    const gchar* name = factory ? gst_plugin_feature_get_name(GST_PLUGIN_FEATURE(factory)) : nullptr;
    return name ? name : "";
}

/// nullptr: not allowed.
const AllowedElement* rule_of(GstElementFactory* factory) {
    const std::string_view name = factory_name(factory);
    const auto* rule = std::find_if(std::begin(kAllowed), std::end(kAllowed),
                                    [&](const AllowedElement& one) { return one.element == name; });
    if (rule != std::end(kAllowed))
        return rule;
    static constexpr AllowedElement kCodec = {"", ""};
    const bool names_other_files = name.find("svg") != npos;
    return factory && !names_other_files && is_codec(factory) ? &kCodec : nullptr;
}

bool listed(std::string_view words, std::string_view word) {
    while (!words.empty()) {
        const std::size_t end = std::min(words.find(' '), words.size());
        if (words.substr(0, end) == word)
            return true;
        words.remove_prefix(std::min(end + 1, words.size()));
    }
    return false;
}

[[noreturn]] void refuse_untrusted(const std::string& what) {
    throw UsageError("source gst: " + what + " without --trust. Leave it out, or add --trust.");
}

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Elements, `property=value`, `!`, caps, and `name.` or `name.pad`. Refuses bins, presets, addresses as
/// elements and properties of children.
class TextReader {
public:
    explicit TextReader(std::string_view text) : text_(text) {}

    UntrustedText read() {
        for (skip_blanks(); at_ < text_.size(); skip_blanks())
            read_item();
        for (const Node& node : nodes_)
            pieces_[node.piece] = node.factory + " name=" + node.name;
        UntrustedText out;
        for (const std::string& piece : pieces_)
            out.graph += piece + " ";
        for (Node& node : nodes_)
            for (auto& [property, value] : node.properties)
                out.settings.push_back({node.name, property, std::move(value)});
        return out;
    }

private:
    struct Node {
        std::string factory, name;
        std::size_t piece = 0;
        std::vector<std::pair<std::string, std::string>> properties;
    };

    char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_blanks() {
        while (is_blank(here()))
            ++at_;
    }
    std::string word(std::string_view also = "") {
        const std::size_t begin = at_;
        while (is_word_char(here()) || (here() != '\0' && also.find(here()) != npos))
            ++at_;
        return std::string(text_.substr(begin, at_ - begin));
    }
    [[noreturn]] void too_much() const {
        refuse_untrusted("'" + std::string(text_.substr(at_, 24)) +
                         "' is more than elements, properties, links and caps, which a text cannot hold");
    }

    void read_item() {
        if (here() == '!') {
            pieces_.emplace_back("!");
            ++at_;
            return;
        }
        const std::size_t begin = at_;
        const std::string first = word();
        if (here() == '.') {
            ++at_;
            pieces_.push_back(first + "." + word("%"));
            return;
        }
        if (first.empty())
            too_much();
        if (here() == '/') {
            at_ = begin;
            add("capsfilter");
            nodes_.back().properties.emplace_back("caps", caps());
            return;
        }
        const std::size_t end = at_;
        skip_blanks();
        if (here() != '=') {
            at_ = end;
            if (at_ < text_.size() && !is_blank(here()) && here() != '!')
                too_much();
            add(first);
            return;
        }
        ++at_;
        if (nodes_.empty())
            too_much();
        set(first, value());
    }

    void add(const std::string& factory_name) {
        const GstHandle<GstElementFactory> factory(gst_element_factory_find(factory_name.c_str()));
        if (factory && !rule_of(factory.get()))
            refuse_untrusted(factory_name + " is not among the elements that a text may hold");
        if (!factory)
            throw UsageError("source gst: '" + factory_name +
                             "' is not an element of GStreamer. Install its plugin, or correct the name.");
        nodes_.push_back(
            {factory_name, factory_name + std::to_string(counts_[factory_name]++), pieces_.size(), {}});
        pieces_.emplace_back();
        names_.insert(nodes_.back().name);
    }

    void set(std::string property, std::string value) {
        std::replace(property.begin(), property.end(), '_', '-'); // equal for GObject
        Node& node = nodes_.back();
        if (property != "name") {
            node.properties.emplace_back(std::move(property), std::move(value));
            return;
        }
        if (value.empty() || !std::all_of(value.begin(), value.end(), is_word_char))
            refuse_untrusted("a name other than letters, digits, - and _ is not possible");
        if (!names_.insert(value).second)
            throw UsageError("source gst: two elements are named '" + value + "'. Rename one of them.");
        node.name = std::move(value);
    }

    std::string caps() {
        const std::size_t begin = at_;
        for (bool quoted = false; at_ < text_.size() && (quoted || text_[at_] != '!'); ++at_)
            quoted = quoted != (text_[at_] == '"');
        std::size_t end = at_;
        while (end > begin && is_blank(text_[end - 1]))
            --end;
        return std::string(text_.substr(begin, end - begin));
    }

    std::string value() {
        skip_blanks();
        const char quote = here() == '"' || here() == '\'' ? here() : '\0';
        at_ += quote != '\0' ? 1 : 0;
        std::string out;
        for (; at_ < text_.size(); ++at_) {
            if (quote != '\0' ? text_[at_] == quote : is_blank(text_[at_]))
                break;
            if (text_[at_] == '\\' && at_ + 1 < text_.size())
                ++at_;
            out += text_[at_];
        }
        if (quote != '\0' && at_++ >= text_.size())
            throw UsageError("source gst: a quote is not closed; close it.");
        if (out.find('\0') != std::string::npos)
            too_much();
        return out;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<std::string> pieces_;
    std::vector<Node> nodes_;
    std::map<std::string, int> counts_;
    std::set<std::string> names_ = {std::string(kEndOfText)};
};

bool is_plain_number(GParamSpec* spec) {
    return G_IS_PARAM_SPEC_BOOLEAN(spec) || G_IS_PARAM_SPEC_INT(spec) || G_IS_PARAM_SPEC_UINT(spec) ||
           G_IS_PARAM_SPEC_INT64(spec) || G_IS_PARAM_SPEC_UINT64(spec) || G_IS_PARAM_SPEC_LONG(spec) ||
           G_IS_PARAM_SPEC_ULONG(spec) || G_IS_PARAM_SPEC_FLOAT(spec) || G_IS_PARAM_SPEC_DOUBLE(spec) ||
           G_IS_PARAM_SPEC_ENUM(spec) || G_IS_PARAM_SPEC_FLAGS(spec) || GST_IS_PARAM_SPEC_FRACTION(spec);
}

/// Caps and structures contain values of any registered type, each parsed by that type's function.
bool has_plain_types(std::string_view text) {
    for (std::size_t open = text.find('('); open != npos; open = text.find('(', open + 1)) {
        const std::string_view type = text.substr(open + 1, text.find(')', open) - open - 1);
        if (!type.starts_with("memory:") && !type.starts_with("meta:") &&
            !listed(
                "int i uint u int64 guint64 float f double d boolean bool b string str s fraction bitmask "
                "buffer",
                type))
            return false;
    }
    return true;
}

void set_property(GstElement* element, const std::string& name, const std::string& text) {
    const AllowedElement* rule = rule_of(gst_element_get_factory(element));
    const std::string of = name + " of " + std::string(factory_name(gst_element_get_factory(element)));
    GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name.c_str());
    if (!spec || (spec->flags & G_PARAM_WRITABLE) == 0)
        throw UsageError("source gst: there is no property " + of + ". Correct its name.");
    const bool any_text = rule && rule->properties == "*" && G_IS_PARAM_SPEC_STRING(spec);
    if (!rule || (!any_text && !listed(rule->properties, name) && !(rule->numbers && is_plain_number(spec))))
        refuse_untrusted("the property " + of + " cannot be set");
    if ((name == "location" || name == "uri") && !rule->schemes.empty() &&
        (text.find("://") == std::string::npos || !listed(rule->schemes, text.substr(0, text.find("://")))))
        refuse_untrusted("the address in " + of +
                         " is of no kind that a text may open: " + std::string(rule->schemes));
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_PARAM_SPEC_VALUE_TYPE(spec));
    bool possible = true;
    if (G_IS_PARAM_SPEC_STRING(spec))
        g_value_set_string(&value, text.c_str());
    else
        possible = has_plain_types(text) && gst_value_deserialize(&value, text.c_str()) != FALSE;
    if (possible)
        g_object_set_property(G_OBJECT(element), name.c_str(), &value);
    g_value_unset(&value);
    if (!possible)
        throw UsageError("source gst: the value of " + of + " is not possible. Correct it.");
}

/// Children of allowed elements such as rtspsrc and decoders are allowed.
bool within_allowed_element(GstElement* element) {
    for (GstObject* parent = GST_OBJECT_PARENT(element); parent; parent = GST_OBJECT_PARENT(parent))
        if (GstElementFactory* factory =
                GST_IS_ELEMENT(parent) ? gst_element_get_factory(GST_ELEMENT(parent)) : nullptr;
            factory && (factory_name(factory) == "rtspsrc" || is_codec(factory)))
            return true;
    return false;
}

void hold_to_list(GstElement* element) {
    if (factory_name(gst_element_get_factory(element)) == "decodebin")
        allow_codecs_only(element, true);
}

void watch_added(GstBin*, GstBin*, GstElement* element, gpointer pipeline) {
    hold_to_list(element);
    GstElementFactory* factory = gst_element_get_factory(element);
    if (within_allowed_element(element) || rule_of(factory))
        return;
    gst_element_set_locked_state(element, TRUE); // prevents it from opening anything
    GST_ELEMENT_ERROR(GST_ELEMENT(pipeline), RESOURCE, NOT_AUTHORIZED,
                      ("%s is not among the elements that a gst: text may hold without --trust",
                       std::string(factory_name(factory)).c_str()),
                      (nullptr));
}

} // namespace

UntrustedText read_untrusted(std::string_view text) { return TextReader(text).read(); }

void apply_untrusted(const UntrustedText& text, GstElement* bin) {
    for (const UntrustedText::Setting& setting : text.settings) {
        const GstHandle<GstElement> element(gst_bin_get_by_name(GST_BIN(bin), setting.element.c_str()));
        if (element)
            set_property(element.get(), setting.property, setting.value);
    }
}

void watch_untrusted(GstElement* bin) {
    GstIterator* const elements = gst_bin_iterate_elements(GST_BIN(bin));
    GValue item = G_VALUE_INIT;
    while (gst_iterator_next(elements, &item) == GST_ITERATOR_OK) {
        hold_to_list(GST_ELEMENT(g_value_get_object(&item)));
        g_value_reset(&item);
    }
    g_value_unset(&item);
    gst_iterator_free(elements);
    g_signal_connect(bin, "deep-element-added", G_CALLBACK(watch_added), bin);
}

namespace {

template <std::size_t N> bool among(const std::array<std::string_view, N>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

std::string_view klass_of(GstElementFactory* factory) {
    const gchar* klass = gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS);
    return klass ? klass : "";
}

std::string_view name_of(GstElementFactory* factory) {
    const gchar* name = gst_plugin_feature_get_name(GST_PLUGIN_FEATURE(factory));
    return name ? name : "";
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Demuxers that only read their input. (libav's list contains some that open other files, and avdemux_nut,
/// which crashes or never ends.)
// clang-format off
constexpr std::array<std::string_view, 19> kContainers = {
    "matroskademux", "qtdemux",     "avidemux",    "oggdemux",    "flvdemux",
    "tsdemux",       "mpegpsdemux", "asfdemux",    "mxfdemux",    "dvdemux",
    "y4mdec",        "ivfparse",    "nuvdemux",    "wavparse",    "multipartdemux",
    "avdemux_gif",   "avdemux_gxf", "avdemux_ivf", "avdemux_yuv4mpegpipe",
};
// clang-format on

bool decodes(GstElementFactory* factory, std::string_view media, bool packets) {
    const std::string_view klass = klass_of(factory);
    if (has(klass, "Adaptive"))
        return false;
    if (has(klass, "Demuxer"))
        return among(kContainers, name_of(factory)) || has(name_of(factory), "codecalphademux");
    if (has(klass, "Depayloader"))
        return packets;
    const bool picture = has(klass, "Video") || has(klass, "Image");
    return picture && (has(klass, "Codec/Decoder") || has(klass, "Codec/Parser")) &&
           !media.starts_with("image/svg"); // it may refer to other files
}

// GstAutoplugSelectResult, which is not declared in GStreamer's headers.
constexpr int kTry = 0, kSkip = 2;

int select_factory(GstElement* decodebin, GstPad*, GstCaps* caps, GstElementFactory* factory,
                   gpointer packets) {
    const std::string_view media =
        gst_caps_get_size(caps) > 0 ? gst_structure_get_name(gst_caps_get_structure(caps, 0)) : "";
    if (decodes(factory, media, packets != nullptr))
        return kTry;
    if (has(klass_of(factory), "Demuxer"))
        GST_ELEMENT_ERROR(
            decodebin, STREAM, WRONG_TYPE,
            ("it is of type %s, which is not among the containers that are read: what names other "
             "files or addresses is not followed",
             std::string(media).c_str()),
            (nullptr));
    return kSkip;
}

} // namespace

void allow_codecs_only(GstElement* decodebin, bool packets) {
    g_signal_connect(decodebin, "autoplug-select", G_CALLBACK(select_factory), packets ? decodebin : nullptr);
}

bool is_codec(GstElementFactory* factory) { return decodes(factory, "", true); }

} // namespace specklescope
