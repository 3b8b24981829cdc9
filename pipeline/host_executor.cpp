// The chain on the host: stages run one after the other on the processing thread, each over oneTBB bands.
#include "pipeline/error.hpp"
#include "pipeline/executor.hpp"
#include "stages/convert.hpp"

#include <hwy/targets.h>
#include <tbb/global_control.h>
#include <tbb/info.h>

#include <algorithm>
#include <deque>

namespace specklescope {

namespace {

double ms_between(SteadyClock::time_point from, SteadyClock::time_point to) {
    return std::chrono::duration<double, std::milli>(to - from).count();
}

/// Everything that depends on the chain and the input shape together; built whole or not at all.
struct Plan {
    struct Step {
        const StageType* type = nullptr;
        std::unique_ptr<HostStage> stage;
        Shape converted;  ///< what the stage reads
        Frame conversion; ///< holds it, if it differs from what comes in
        Shape output;
        Frame between; ///< holds the output; empty for the last step, which writes into a result slot
    };
    Shape input;
    Shape output;
    std::vector<Step> steps;
    std::shared_ptr<FrameRing> results;

    Plan(const Chain& chain, const Shape& shape, const std::shared_ptr<FrameRing>& old_results)
        : input(shape), output(shape) {
        for (const ChainStage& link : chain.stages()) {
            Step step;
            step.type = link.type;
            step.converted = accepted_shape(*link.type, output);
            if (step.converted != output)
                step.conversion = FrameRing(step.converted, 1, host_memory()).try_acquire();
            step.stage = link.type->make_host(link.params);
            step.output = step.stage->prepare(step.converted);
            output = step.output;
            steps.push_back(std::move(step));
        }
        for (std::size_t i = 0; i + 1 < steps.size(); ++i)
            steps[i].between = FrameRing(steps[i].output, 1, host_memory()).try_acquire();
        if (!steps.empty())
            results = old_results && old_results->shape() == output
                          ? old_results
                          : std::make_shared<FrameRing>(output, default_slots(output), host_memory());
    }
};

class HostExecutor final : public Executor {
public:
    explicit HostExecutor(int threads)
        : threads_(threads > 0 ? threads : tbb::info::default_concurrency()),
          limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads_)) {}

    std::string backend() const override { return "cpu"; }
    std::string device_name() const override {
        std::int64_t best = 0; // bits of the best targets are the lowest
        for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
            best = best == 0 ? target : std::min(best, target);
        return std::string(hwy::TargetName(best)) + ", " + std::to_string(threads_) +
               (threads_ == 1 ? " thread" : " threads");
    }
    std::shared_ptr<SlotMemory> slot_memory() const override { return host_memory(); }

    void set_chain(std::shared_ptr<const Chain> chain, std::uint64_t version) override {
        if (input_) { // the newest frame's shape; the plan is an older one's if the chain could not run on it
            if (plan_ && plan_->input == *input_ && differs_in_free_only(*chain_, *chain))
                for (std::size_t i = 0; i < plan_->steps.size(); ++i)
                    plan_->steps[i].stage->set_params(chain->stages()[i].params);
            else
                plan_ = std::make_unique<Plan>(*chain, *input_, plan_ ? plan_->results : nullptr);
        }
        chain_ = std::move(chain);
        version_ = version;
    }

    void submit(Frame frame, bool) override {
        input_ = frame.shape();
        if (!plan_ || plan_->input != frame.shape())
            plan_ = std::make_unique<Plan>(*chain_, frame.shape(), plan_ ? plan_->results : nullptr);
        Result result;
        result.info = frame.info();
        result.info.version = version_;
        result.chain = chain_;
        result.quantity = chain_->quantity();
        result.image = plan_->steps.empty() ? frame : run(frame, result);
        result.raw = std::move(frame);
        result.ready = SteadyClock::now();
        done_.push_back(std::move(result));
    }

    std::optional<Result> collect(bool) override {
        if (done_.empty())
            return std::nullopt;
        Result result = std::move(done_.front());
        done_.pop_front();
        return result;
    }
    int in_flight() const override { return static_cast<int>(done_.size()); }
    int capacity() const override { return 1; }

    bool wait_slot(std::chrono::milliseconds timeout) override {
        if (next_slot_ || !plan_ || !plan_->results)
            return true;
        next_slot_ = plan_->results->acquire(timeout);
        return static_cast<bool>(next_slot_);
    }

private:
    Frame run(const Frame& frame, Result& result) {
        Frame slot = next_slot_ && next_slot_.shape() == plan_->output
                         ? std::exchange(next_slot_, Frame())
                         : plan_->results->acquire(std::chrono::seconds(10));
        next_slot_.reset();
        if (!slot)
            throw RunError("No result slot came free within 10 s; a recorder or the viewer holds them all.");
        ConstHostView image = frame.host();
        for (Plan::Step& step : plan_->steps) {
            auto begin = SteadyClock::now();
            if (step.conversion) {
                convert(image, step.conversion.host());
                image = step.conversion.host();
                const auto end = SteadyClock::now();
                result.timings.add("convert", ms_between(begin, end));
                begin = end;
            }
            const HostView output = step.between ? step.between.host() : slot.host();
            PixelCounts counts;
            step.stage->run(image, output, {.info = result.info, .counts = counts});
            result.counts = counts;
            image = output;
            result.timings.add(step.type->name, ms_between(begin, SteadyClock::now()));
        }
        slot.info() = result.info;
        return slot;
    }

    int threads_;
    tbb::global_control limit_;
    std::shared_ptr<const Chain> chain_ = std::make_shared<Chain>();
    std::uint64_t version_ = 0;
    std::optional<Shape> input_;
    std::unique_ptr<Plan> plan_;
    Frame next_slot_;
    std::deque<Result> done_;
};

} // namespace

std::unique_ptr<Executor> make_host_executor(int threads) { return std::make_unique<HostExecutor>(threads); }

std::unique_ptr<Executor> make_executor(Backend backend, int threads, std::string* note) {
    if (backend == Backend::cpu)
        return make_host_executor(threads);
#ifdef SPECKLESCOPE_HAVE_CUDA
    try {
        return make_cuda_executor();
    } catch (const RunError& error) {
        if (backend == Backend::cuda)
            throw;
        if (note)
            *note = std::string(error.what()) + " Running on the CPU.";
    }
#else
    if (backend == Backend::cuda)
        throw RunError(
            "This build has no CUDA backend; use --backend cpu, or build where nvcc is installed.");
    if (note)
        *note = "This build has no CUDA backend. Running on the CPU.";
#endif
    return make_host_executor(threads);
}

} // namespace specklescope
