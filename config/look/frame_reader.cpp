#include "config/look/frame_reader.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"

#include <deque>

namespace specklescope {

class FrameReader::Port final : public FramePort {
public:
    Frame acquire(const Shape& shape) override {
        if (!ring_ || ring_->shape() != shape)
            ring_ = std::make_shared<FrameRing>(shape, kHeld + 2, host_memory()); // one waits, one is filled
        return ring_->try_acquire();
    }
    std::shared_ptr<FrameRing> ring(const Shape&, int) override { return nullptr; }
    void copied(std::string_view) override {}
    void submit(Frame frame) override { frames.push_back(std::move(frame)); }
    void lost(std::uint64_t, std::string_view) override {}
    void discontinuity() override {}
    bool stopping() const override {
        try {
            goes_on();
            return false;
        } catch (const Cancelled&) {
            return true;
        }
    }
    /// Throws Cancelled.
    static void goes_on() { work_goes_on("a look at the frames"); }
    std::deque<Frame> frames;

private:
    std::shared_ptr<FrameRing> ring_;
};

FrameReader::FrameReader(const SourceArgument& text, const SourceDefaults& defaults)
    : name_(text.shown()), source_(make_source(text, defaults)), info_(source_->open()),
      port_(std::make_unique<Port>()) {}

FrameReader::~FrameReader() { source_->close(); }

std::optional<Frame> FrameReader::next(std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (port_->frames.empty()) {
        Port::goes_on();
        if (source_->next(*port_) == Source::Status::end && port_->frames.empty())
            return std::nullopt;
        if (port_->frames.empty() && std::chrono::steady_clock::now() > until)
            throw RunError(
                "'" + name_ + "' delivered no frame within " +
                std::to_string(std::chrono::duration_cast<std::chrono::seconds>(patience).count()) + " s.");
    }
    Frame frame = std::move(port_->frames.front());
    port_->frames.pop_front();
    return frame;
}

} // namespace specklescope
