// A source whose address contains a secret, which must not appear in its messages.
#pragma once

#include "base/error.hpp"
#include "base/source_argument.hpp"
#include "pipeline/source.hpp"

#include <optional>
#include <utility>

namespace specklescope {

/// Runs `work`; hides the secrets of `text` in its exceptions.
template <class F> auto discreetly(const SourceArgument& text, F&& work) {
    try {
        return work();
    } catch (const UsageError& error) {
        throw UsageError(text.hide(error.what()));
    } catch (const RunError& error) {
        throw RunError(text.hide(error.what()));
    }
}

class DiscreetSource final : public Source, public TimedFrames {
public:
    DiscreetSource(std::unique_ptr<Source> source, SourceArgument text)
        : source_(std::move(source)), text_(std::move(text)) {
        params_ = source_->params();
    }
    SourceInfo open() override {
        return discreetly(text_, [this] {
            SourceInfo info = source_->open();
            info.name = text_.hide(info.name);
            params_ = source_->params();
            return info;
        });
    }
    bool may_hold_results() const override { return source_->may_hold_results(); }
    Status next(FramePort& port) override {
        return discreetly(text_, [&] { return source_->next(port); });
    }
    std::uint64_t length() override { return source_->length(); }
    std::optional<std::uint64_t> frame_at(double seconds) override {
        return discreetly(text_, [&] { return TimedFrames::find(*source_, seconds); });
    }
    void recording(bool on) override { source_->recording(on); }
    void pace(double rate) override {
        source_->pace(rate);
        params_ = source_->params();
    }
    void seek(std::uint64_t frame, std::uint64_t at_once) override {
        discreetly(text_, [&] { source_->seek(frame, at_once); });
    }
    void close() override { source_->close(); }
    void set(std::string_view name, const ParamValue& value) override {
        discreetly(text_, [&] { source_->set(name, value); });
        params_ = source_->params();
    }

private:
    std::unique_ptr<Source> source_;
    SourceArgument text_;
};

} // namespace specklescope
