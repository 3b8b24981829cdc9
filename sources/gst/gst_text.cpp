// gst:DESCRIPTION: any gst-launch text.
#include "base/error.hpp"
#include "sources/gst/gst_appsink.hpp"
#include "sources/gst/gst_source.hpp"
#include "sources/gst/gst_untrusted.hpp"
#include "sources/registry.hpp"

namespace specklescope {

namespace {

/// Live if the description is (GStreamer returns NO_PREROLL). Its end always ends the run, since only the
/// description can request an end.
class GstTextSource final : public GstSource {
public:
    GstTextSource(const SourceText& text, const Params& params)
        : GstSource("gst:" + text.target), text_(text.target), trusted_(text.trusted) {
        params_ = params;
    }

private:
    GstGraph build() override {
        const UntrustedText text = trusted_ ? UntrustedText{text_, {}} : read_untrusted(text_);
        GError* raw = nullptr;
        GstParseContext* context = nullptr;
        GstElement* parsed =
            gst_parse_launch_full((text.graph + " ! identity silent=true name=" + kEndOfText).c_str(),
                                  context, GST_PARSE_FLAG_FATAL_ERRORS, &raw);
        const GstHandle<GError> error(raw);
        GstGraph graph{own(parsed), nullptr};
        // An unclosed quote includes our end of the text: the result is then one element and no pipeline.
        const GstHandle<GstElement> end(
            parsed && GST_IS_BIN(parsed) ? gst_bin_get_by_name(GST_BIN(parsed), kEndOfText) : nullptr);
        if (!end || error)
            throw UsageError("source gst: '" + text_ + "' is not a pipeline: " +
                             (error ? error->message : "it does not end in an element") +
                             ". Give gst-launch text without a sink, such as gst:videotestsrc is-live=true.");
        if (!trusted_)
            apply_untrusted(text, parsed);
        GstTail tail = make_tail();
        gst_bin_add_many(GST_BIN(parsed), tail.convert.get(), tail.sink.get(), nullptr);
        if (!trusted_)
            watch_untrusted(parsed);
        if (!gst_element_link_many(end.get(), tail.convert.get(), tail.sink.get(), nullptr))
            throw UsageError("source gst: '" + text_ + "' does not end in video.");
        graph.sink = std::move(tail.sink);
        return graph;
    }

    std::string text_;
    bool trusted_;
};

std::unique_ptr<Source> make_text(const SourceText& text, const Params& params) {
    return std::make_unique<GstTextSource>(text, params);
}

} // namespace

SourceType gst_source_type() {
    static const ParamTable table = Declare<GstTextParams>("source gst").table();
    return {.kind = "gst",
            .syntax = "gst:DESCRIPTION",
            .doc = "gst-launch pipeline without its sink: \"gst:videotestsrc is-live=true\". Elements other "
                   "than reading sources, decoders and converters need --trust",
            .table = &table,
            .make = make_text,
            .discover = nullptr};
}

} // namespace specklescope
