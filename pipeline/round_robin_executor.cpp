#include "base/error.hpp"
#include "pipeline/executor.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <deque>
#include <functional>
#include <thread>

namespace specklescope {

namespace {

/// An executor with its own thread. Launching the kernels of a long chain takes the host about as long as a
/// GPU needs for a small frame: one thread could not feed several GPUs.
class Member {
public:
    using Task = std::function<void(Executor&)>;

    Member(std::unique_ptr<Executor> executor, std::string name)
        : executor_(std::move(executor)), name_(std::move(name)), thread_([this] { run(); }) {}
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    ~Member() {
        wait();
        change(State::ending);
        thread_.join();
    }

    /// Only for constant properties.
    const Executor& description() const { return *executor_; }

    /// Starts `task` on the member's thread after the previous one. Throws the previous task's exception.
    void begin(Task task) {
        executor();
        task_ = std::move(task);
        change(State::busy);
    }
    bool busy() const { return state_ == State::busy; }
    /// Waits for the last task; true if it threw.
    bool failed() const {
        wait();
        return error_ != nullptr;
    }
    /// Takes the exception of the last task; null if there is none.
    std::exception_ptr take_error() {
        wait();
        return std::exchange(error_, nullptr);
    }
    /// For calls from the owner's thread between tasks. Throws the last task's exception.
    Executor& executor() const {
        if (failed())
            std::rethrow_exception(error_);
        return *executor_;
    }
    /// Calls it and names the member in device errors. Other exceptions leave the member in an undefined
    /// state and become device errors.
    template <class F> auto named(F&& call) const {
        try {
            return call(*executor_);
        } catch (const UsageError&) {
            throw;
        } catch (const NoSlot&) {
            throw;
        } catch (const std::exception& error) {
            throw DeviceError(name_ + ": " + sentence_of(error));
        }
    }

private:
    enum class State : int { idle, busy, ending };

    void wait() const { state_.wait(State::busy); }
    void change(State state) {
        state_ = state;
        state_.notify_all();
    }

    void run() {
        for (state_.wait(State::idle); state_ != State::ending; state_.wait(State::idle)) {
            error_ = nullptr;
            try {
                named(std::exchange(task_, nullptr));
            } catch (...) {
                error_ = std::current_exception();
            }
            change(State::idle);
        }
    }

    std::unique_ptr<Executor> executor_;
    std::string name_;
    std::atomic<State> state_{State::idle};
    Task task_;                ///< owned by the thread while busy, like the executor and the error
    std::exception_ptr error_; ///< of the last task
    std::thread thread_;       ///< last: starts when the other members exist
};

class RoundRobinExecutor final : public Executor {
public:
    explicit RoundRobinExecutor(std::vector<std::unique_ptr<Executor>> executors) {
        for (std::size_t i = 0; i < executors.size(); ++i)
            members_.push_back(
                std::make_unique<Member>(std::move(executors[i]), "GPU " + std::to_string(i + 1) + " of " +
                                                                      std::to_string(executors.size())));
    }

    std::string backend() const override { return members_[0]->description().backend(); }
    std::string device_name() const override {
        const std::string first = members_[0]->description().device_name();
        std::string names = std::to_string(members_.size()) + " × " + first;
        for (const auto& member : members_)
            if (const std::string name = member->description().device_name(); name != first)
                names += ", " + name;
        return names;
    }
    std::shared_ptr<SlotMemory> slot_memory() const override {
        return members_[0]->description().slot_memory();
    }

    void set_chain(std::shared_ptr<const Chain> chain, std::uint64_t version) override {
        for (const ChainStage& link : chain->stages())
            if (link.type->stateful && !link.bypassed)
                throw UsageError(
                    "stage " + std::string(link.type->name) +
                    " needs every frame in order on one GPU; leave it out, or give one GPU with --gpus.");
        try {
            on_all([&](Executor& executor) { executor.set_chain(chain, version); });
        } catch (...) { // all or none
            on_all([&](Executor& executor) { executor.set_chain(chain_, version_); });
            throw;
        }
        chain_ = std::move(chain);
        version_ = version;
    }

    void set_regions(std::shared_ptr<const RegionOutlines> regions, std::uint64_t version) override {
        try {
            on_all([&](Executor& executor) { executor.set_regions(regions, version); });
        } catch (...) { // all or none
            on_all([&](Executor& executor) { executor.set_regions(regions_, version_); });
            throw;
        }
        regions_ = std::move(regions);
        version_ = version;
    }

    std::optional<Shape> output() const override { return members_[0]->executor().output(); }

    void prepare(const Shape& input, bool want_host) override {
        shape_.reset();
        on_all([&](Executor& executor) { executor.prepare(input, want_host); });
        shape_ = input;
    }

    void submit(Frame frame, bool want_host, bool again) override {
        if (shape_ != frame.shape()) // here, since a chain that cannot run on this shape must be refused now
            prepare(frame.shape(), want_host);
        const Member& member = *members_[next_];
        (void)member.executor(); // rethrow an earlier exception before recording this frame
        std::optional<NoSlot>& lost = order_.emplace_back(next_).lost;
        members_[next_]->begin([frame = std::move(frame), want_host, again, &lost](Executor& executor) {
            try {
                executor.submit(frame, want_host, again);
            } catch (const NoSlot& error) {
                lost = error;
            }
        });
        next_ = (next_ + 1) % members_.size();
    }

    std::optional<Result> collect(bool wait) override {
        if (order_.empty())
            return std::nullopt;
        const Member& member = *members_[order_.front().member];
        if (!wait && member.busy())
            return std::nullopt;
        (void)member.executor();
        std::optional<Result> result;
        try {
            if (order_.front().lost)
                throw NoSlot(*order_.front().lost);
            result = member.named([wait](Executor& executor) { return executor.collect(wait); });
        } catch (const NoSlot&) { // in place of this frame's result
            order_.pop_front();
            throw;
        }
        if (result) {
            order_.pop_front();
            if (result->image && !result->memory) { // otherwise pixels are not requested, or on the device
                result->device_image.reset();
                if (result->also) {
                    auto on_host = std::make_shared<std::vector<NamedImage>>(*result->also);
                    for (NamedImage& named : *on_host)
                        named.device_image.reset();
                    result->also = std::move(on_host);
                }
            }
        }
        return result;
    }

    int in_flight() const override { return static_cast<int>(order_.size()); }
    /// Frames are assigned in rotation and collected in order, so that the members' loads differ by one at
    /// most.
    int capacity() const override {
        return members_[0]->description().capacity() * static_cast<int>(members_.size());
    }
    bool wait_slot(std::chrono::milliseconds timeout) override {
        const Member& member = *members_[next_];
        return member.failed() || member.executor().wait_slot(timeout); // the next submit throws the error
    }

private:
    /// Runs the task on every member in parallel; throws the first error after all are done.
    void on_all(const Member::Task& task) {
        for (const auto& member : members_)
            member->executor(); // none starts if one has failed before
        for (const auto& member : members_)
            member->begin(task);
        std::exception_ptr error;
        for (const auto& member : members_)
            if (const std::exception_ptr own = member->take_error(); own && !error)
                error = own;
        if (error)
            std::rethrow_exception(error);
    }

    struct Assigned {
        explicit Assigned(std::size_t to) : member(to) {}
        std::size_t member;
        std::optional<NoSlot> lost; ///< owned by the member's thread while it is busy
    };
    std::deque<Assigned> order_; ///< member of each frame in flight, oldest first; outlives the members
    std::vector<std::unique_ptr<Member>> members_;
    std::size_t next_ = 0;
    std::optional<Shape> shape_; ///< that all members are prepared for
    std::shared_ptr<const Chain> chain_ = std::make_shared<Chain>();
    std::shared_ptr<const RegionOutlines> regions_;
    std::uint64_t version_ = 0;
};

} // namespace

std::unique_ptr<Executor> make_round_robin_executor(std::vector<std::unique_ptr<Executor>> members) {
    return std::make_unique<RoundRobinExecutor>(std::move(members));
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
