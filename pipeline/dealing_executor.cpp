#include "pipeline/dealing_executor.hpp"

#include "pipeline/error.hpp"

#include <algorithm>
#include <charconv>
#include <deque>

namespace specklescope {

namespace {

class DealingExecutor final : public Executor {
public:
    explicit DealingExecutor(std::vector<std::unique_ptr<Executor>> members) : members_(std::move(members)) {}

    std::string backend() const override { return members_[0]->backend(); }
    std::string device_name() const override {
        std::string names = std::to_string(members_.size()) + " × " + members_[0]->device_name();
        for (const auto& member : members_)
            if (member->device_name() != members_[0]->device_name())
                names += ", " + member->device_name();
        return names;
    }
    std::shared_ptr<SlotMemory> slot_memory() const override { return members_[0]->slot_memory(); }

    void set_chain(std::shared_ptr<const Chain> chain, std::uint64_t version) override {
        for (const ChainStage& link : chain->stages())
            if (link.type->stateful)
                throw UsageError(
                    "stage " + std::string(link.type->name) +
                    " needs every frame in order on one GPU; leave it out, or give one GPU with --gpus.");
        for (std::size_t i = 0; i < members_.size(); ++i) {
            try {
                members_[i]->set_chain(chain, version);
            } catch (...) {
                for (std::size_t k = 0; k < i; ++k) // all or none
                    members_[k]->set_chain(chain_, version_);
                throw;
            }
        }
        chain_ = std::move(chain);
        version_ = version;
    }

    void prepare(const Shape& input) override {
        for (const auto& member : members_)
            member->prepare(input);
    }

    void submit(Frame frame, bool, bool again) override {
        members_[next_]->submit(std::move(frame), true, again);
        order_.push_back(next_);
        next_ = (next_ + 1) % members_.size();
    }

    std::optional<Result> collect(bool wait) override {
        if (order_.empty())
            return std::nullopt;
        std::optional<Result> result = members_[order_.front()]->collect(wait);
        if (result) {
            order_.pop_front();
            result->device_image.reset();
        }
        return result;
    }

    int in_flight() const override { return static_cast<int>(order_.size()); }
    /// Dealt in turn and collected in order, members differ by one at most: the next one has room while this
    /// has.
    int capacity() const override { return members_[0]->capacity() * static_cast<int>(members_.size()); }
    bool wait_slot(std::chrono::milliseconds timeout) override { return members_[next_]->wait_slot(timeout); }

private:
    std::vector<std::unique_ptr<Executor>> members_;
    std::deque<std::size_t> order_; ///< who works on each frame in flight, oldest first
    std::size_t next_ = 0;
    std::shared_ptr<const Chain> chain_ = std::make_shared<Chain>();
    std::uint64_t version_ = 0;
};

} // namespace

std::unique_ptr<Executor> make_dealing_executor(std::vector<std::unique_ptr<Executor>> members) {
    return std::make_unique<DealingExecutor>(std::move(members));
}

std::vector<int> parse_gpus(std::string_view text, int count) {
    std::vector<int> indices;
    if (text == "all") {
        for (int i = 0; i < count; ++i)
            indices.push_back(i);
        return indices;
    }
    const auto refuse = [&, given = std::string(text)] {
        throw UsageError("--gpus = " + given + " is not possible; allowed: all, or indices of 0…" +
                         std::to_string(count - 1) + " joined by commas, none twice.");
    };
    while (true) {
        const std::size_t comma = text.find(',');
        const std::string_view part = text.substr(0, comma);
        int index = -1;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
        if (error != std::errc{} || end != part.data() + part.size() || index < 0 || index >= count ||
            std::find(indices.begin(), indices.end(), index) != indices.end())
            refuse();
        indices.push_back(index);
        if (comma == std::string_view::npos)
            return indices;
        text.remove_prefix(comma + 1);
    }
}

} // namespace specklescope
