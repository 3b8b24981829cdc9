#include "recording/video/film_progress.hpp"

#include "base/system.hpp"
#include "files/gst_handles.hpp"
#include "recording/record_file.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>

namespace specklescope {

/// The MP4 muxer writes full range as limited range. Without the field, readers use the encoder's own, which
/// is right.
GstPadProbeReturn FilmProgress::on_caps(GstPad*, GstPadProbeInfo* info, gpointer) {
    GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
    if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
        return GST_PAD_PROBE_OK;
    GstCaps* given = nullptr;
    gst_event_parse_caps(event, &given);
    const GstHandle<GstCaps> caps(gst_caps_copy(given));
    gst_structure_remove_field(gst_caps_get_structure(caps.get(), 0), "colorimetry");
    GST_PAD_PROBE_INFO_DATA(info) = gst_event_new_caps(caps.get());
    gst_event_unref(event);
    return GST_PAD_PROBE_OK;
}

GstPadProbeReturn FilmProgress::on_muxed(GstPad*, GstPadProbeInfo*, gpointer data) {
    auto* progress = static_cast<FilmProgress*>(data);
    const std::lock_guard lock(progress->mutex);
    ++progress->muxed;
    if (!progress->inside.empty()) { // one goes in, one comes out
        progress->took = SteadyClock::now() - progress->inside.front();
        progress->inside.pop_front();
    }
    progress->changed.notify_all();
    return GST_PAD_PROBE_OK;
}

/// The muxer writes a text tag with a backslash before every second character. Replaces that by the text,
/// which is shorter.
GstPadProbeReturn FilmProgress::on_bytes(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* progress = static_cast<FilmProgress*>(data);
    const std::lock_guard lock(progress->mutex);
    if (progress->abandoned)
        return GST_PAD_PROBE_DROP;
    GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
    const std::string& escaped = progress->escaped;
    if (escaped.empty() || gst_buffer_get_size(buffer) < escaped.size())
        return GST_PAD_PROBE_OK;
    buffer = gst_buffer_make_writable(buffer);
    GST_PAD_PROBE_INFO_DATA(info) = buffer;
    GstMapInfo map;
    if (!gst_buffer_map(buffer, &map, GST_MAP_READWRITE))
        return GST_PAD_PROBE_OK;
    const std::string_view bytes(reinterpret_cast<const char*>(map.data), map.size);
    const std::size_t at = bytes.find(escaped);
    if (at != std::string_view::npos) { // not in another version of GStreamer: the tag stays as it is
        std::string text = progress->text;
        text.resize(escaped.size(), ' ');
        std::memcpy(map.data + at, text.data(), text.size());
    }
    gst_buffer_unmap(buffer, &map);
    return GST_PAD_PROBE_OK;
}

namespace {

/// The text without full stops at its end.
std::string without_stop(std::string text) {
    while (text.ends_with('.'))
        text.pop_back();
    return text;
}

/// Change of the number of threads that GStreamer has created and not started. A thread that starts will
/// write the file: SIGXFSZ would end the process.
int threads_more(GstMessage* message) {
    if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_STREAM_STATUS)
        return 0;
    GstStreamStatusType type = GST_STREAM_STATUS_TYPE_LEAVE;
    GstElement* owner = nullptr;
    gst_message_parse_stream_status(message, &type, &owner);
    if (type == GST_STREAM_STATUS_TYPE_ENTER)
        HeldSignal::hold_here(SIGXFSZ);
    return type == GST_STREAM_STATUS_TYPE_CREATE ? 1 : type == GST_STREAM_STATUS_TYPE_ENTER ? -1 : 0;
}

std::string reason_of(const GError& error, std::string_view details) {
    const auto text = [](std::errc code) { return std::make_error_code(code).message(); };
    std::string reason = without_stop(error.message);
    if (g_error_matches(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT))
        reason = text(std::errc::no_space_on_device);
    // "…: Error while writing to file descriptor 5: File too large": only the words of the system are the
    // reason.
    if (const std::size_t last = details.rfind(": ");
        g_error_matches(&error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE) &&
        last != std::string_view::npos && last + 2 < details.size())
        reason = without_stop(std::string(details.substr(last + 2)));
    for (const int full : {ENOSPC, EFBIG, EDQUOT})
        if (reason == std::generic_category().message(full))
            return reason + advice_for_full(full);
    return reason;
}

} // namespace

GstBusSyncReply FilmProgress::on_message(GstBus*, GstMessage* message, gpointer data) {
    auto* progress = static_cast<FilmProgress*>(data);
    const int more = threads_more(message);
    const std::lock_guard lock(progress->mutex);
    progress->threads_missing += more;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS)
        progress->ended = true;
    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR && !progress->failed) {
        GError* raw = nullptr;
        gchar* details = nullptr;
        gst_message_parse_error(message, &raw, &details);
        const GstHandle<GError> error(raw);
        const std::unique_ptr<gchar, void (*)(gpointer)> text(details, g_free);
        progress->error = reason_of(*error, text ? text.get() : "");
        progress->failed = true;
    }
    progress->changed.notify_all();
    gst_message_unref(message);
    return GST_BUS_DROP;
}

} // namespace specklescope
