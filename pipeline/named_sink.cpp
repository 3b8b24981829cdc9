#include "pipeline/named_sink.hpp"

#include "base/log.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace specklescope {

namespace {

class NamedSink final : public Sink {
public:
    NamedSink(std::string output, std::shared_ptr<Sink> to)
        : output_(std::move(output)), to_(std::move(to)) {}
    void open(const StreamInfo& stream) override { to_->open(stream); }
    void push(const Result& result, bool may_wait) override {
        std::optional<Result> named = named_result(result, output_);
        if (named) {
            named->also.reset(); // the slots of the others are not held
            to_->push(*named, may_wait);
        } else if (!std::exchange(missing_, true)) {
            run_log().warn("The chain gives no image '{}' any more. {} gets no frames until it does.",
                           output_, to_->status().path.empty() ? "Its output" : to_->status().path);
        }
        missing_ = !named;
    }
    void mark(const EventMark& event) override { to_->mark(event); }
    void hurry() noexcept override { to_->hurry(); }
    void close() noexcept override { to_->close(); }
    bool wants_host_image() const override { return to_->wants_host_image(); }
    bool records() const override { return to_->records(); }
    SinkStatus status() const override { return to_->status(); }

private:
    const std::string output_;
    const std::shared_ptr<Sink> to_;
    bool missing_ = false;
};

} // namespace

std::shared_ptr<Sink> make_named_sink(std::string output, std::shared_ptr<Sink> to) {
    return std::make_shared<NamedSink>(std::move(output), std::move(to));
}

} // namespace specklescope
