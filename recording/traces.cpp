#include "recording/traces.hpp"

#include "analysis/baseline_image.hpp"
#include "base/error.hpp"
#include "pipeline/scale/pixel_size.hpp"
#include "recording/batch_sink.hpp"
#include "recording/table.hpp"
#include "recording/traces_text.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace specklescope {

namespace {

constexpr ReplaceableKind kKind{.what = "traces", .option = "--traces", .holds = [](std::string_view text) {
                                    return text.starts_with(kTracesMark);
                                }};

/// A result without its pixels, or an event instead.
struct TraceItem {
    Result result;
    std::optional<EventMark> event;
};

class Traces final : public BatchSink<TraceItem> {
public:
    Traces(std::string path, TableFile::Taken taken, std::shared_ptr<const BaselineImage> baseline)
        : BatchSink({.most = std::size_t{1} << 20, .many = 4096}), // rows: 100 MB at most
          wanted_(std::move(path)), taken_(taken), baseline_(std::move(baseline)) {
        extras_.baseline = baseline_ != nullptr;
    }
    Traces(const Traces&) = delete;
    Traces& operator=(const Traces&) = delete;
    ~Traces() override { close(); }

    void open(const StreamInfo& stream) override {
        close();
        if (taken_ == TableFile::Taken::is_replaced)
            check_traces_file(wanted_);
        table_ = TableFile(wanted_, traces_begin(stream, extras_.baseline), taken_);
        path_ = table_.path();
        stream_ = stream;
        told_.reset();
        placed_.reset();
        SinkStatus status;
        status.path = path_;
        status.bytes = table_.bytes();
        start(std::move(status));
    }

    void push(const Result& result, bool may_wait) override {
        if (!result.repeated && has_room(may_wait))
            add({.result = without_pixels(result), .event = {}},
                1 + (result.regions ? result.regions->statistics.size() : 0));
    }

    void mark(const EventMark& event) override { add({.result = {}, .event = event}, 1); }
    bool wants_host_image() const override { return false; }

private:
    bool is_frame(const TraceItem& item) const override { return !item.event; }

    void write(const std::vector<TraceItem>& items, Written& written) override {
        table_.append(lines_of(items), written);
    }

    void finish(bool well) override {
        if (well && !told_)
            table_.append(traces_columns(extras_.baseline));
        table_.close();
    }

    /// Throws RunError where there is no room for it.
    FrameLines lines_of(const std::vector<TraceItem>& items) {
        FrameLines lines;
        try {
            for (const TraceItem& item : items)
                if (item.event) {
                    lines.text += event_line(*item.event);
                } else {
                    add_frame(item.result, lines.text);
                    lines.ends.push_back(lines.text.size());
                }
        } catch (const std::exception& thrown) {
            throw RunError("Traces into " + path_ + " stopped. " + sentence_of(thrown));
        }
        return lines;
    }

    /// The settings in front of the first rows, and again when they have changed.
    void add_frame(const Result& result, std::string& text) {
        if (!result.regions)
            return;
        const std::string exposure = to_string(result.exposure);
        const bool other_scale =
            std::exchange(full_scale_, result.info.full_scale) != result.info.full_scale ||
            !(assumed_ == result.info.assumed);
        assumed_ = result.info.assumed;
        if (told_ != result.info.version || other_scale ||
            !same_places(placed_.get(), result.regions->placed.get())) {
            tell_extras(result);
            text += traces_settings(result, extras_);
            if (!told_)
                text += traces_columns(extras_.baseline);
            told_ = result.info.version;
            placed_ = result.regions->placed;
        } else if (exposure != exposure_) { // a camera's, by nobody's edit
            text += exposure_line(result.info.version, result.exposure);
            const std::string before = extras_.baseline_text;
            tell_extras(result);
            if (before != extras_.baseline_text)
                text += setting_line(result.info.version, "baseline", extras_.baseline_text);
        }
        exposure_ = exposure;
        add_rows(result, extras_, text);
    }

    void tell_extras(const Result& result) {
        extras_.um = um_per_px(stream_, result.chain.get());
        extras_.scale = scale_text(stream_, result.chain.get());
        extras_.f0.clear();
        if (!baseline_)
            return;
        extras_.baseline_text = baseline_->text();
        const PlacedRegions& placed = *result.regions->placed;
        const MadeWith with = made_with(result);
        const std::string misfit =
            baseline_->misfit({placed.width, placed.height, 1, PixelType::f32}, result.quantity, &with);
        if (misfit.empty())
            extras_.f0 = baseline_->over(result.regions->placed);
        else
            extras_.baseline_text += "; not used: " + misfit;
    }

    const std::string wanted_;
    const TableFile::Taken taken_;
    const std::shared_ptr<const BaselineImage> baseline_; ///< null: none

    // The writing thread's, while it runs.
    std::string path_;
    TableFile table_;
    StreamInfo stream_;
    TraceExtras extras_;
    std::optional<std::uint64_t> told_; ///< the version that the settings were told of
    std::shared_ptr<const PlacedRegions> placed_;
    std::string exposure_;
    double full_scale_ = 0;
    Assumptions assumed_;
};

} // namespace

void check_traces_file(const std::string& path) { check_table(path, kKind); }

std::shared_ptr<Sink> make_traces(const std::string& path, std::shared_ptr<const BaselineImage> baseline) {
    return std::make_shared<Traces>(path, TableFile::Taken::is_replaced, std::move(baseline));
}

std::shared_ptr<Sink> make_new_traces(const std::string& wanted) {
    return std::make_shared<Traces>(wanted, TableFile::Taken::stays, nullptr);
}

} // namespace specklescope
