#include "config/mean_map.hpp"

#include "analysis/baseline_image.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "config/start.hpp"
#include "recording/recorder.hpp"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <limits>
#include <mutex>
#include <utility>

namespace specklescope {

struct MeanOfRun {
    void push(const Result& result, bool may_wait) {
        collector.push(result, may_wait);
        if (result.warming_up())
            return;
        results += result.repeated || !result.image ? 0U : 1U;
        last.info = result.info; // without pixels: their slots are needed
        last.chain = result.chain;
        last.quantity = result.quantity;
        last.exposure = result.exposure;
    }

    BaselineCollector collector{std::numeric_limits<double>::infinity()};
    Result last;               ///< facts of the newest result of the mean
    std::uint64_t results = 0; ///< without warm-up, also those that the mean left out
};

namespace {

class MeanMap final : public Sink {
public:
    MeanMap(RecordOptions options, std::shared_ptr<MeanOfRun> mean, bool adds)
        : options_(std::move(options)), mean_(std::move(mean)), adds_(adds) {}
    MeanMap(const MeanMap&) = delete;
    MeanMap& operator=(const MeanMap&) = delete;
    ~MeanMap() override { close(); }

    void open(const StreamInfo& stream) override {
        check_snapshot(options_.path);
        stream_ = stream;
    }
    void push(const Result& result, bool may_wait) override {
        if (adds_)
            mean_->push(result, may_wait);
    }
    void close() noexcept override {
        const std::scoped_lock lock(mutex_);
        if (std::exchange(status_.closed, true))
            return;
        try {
            write();
        } catch (const std::exception& error) {
            status_.error = sentence_of(error);
            run_log().error("{}", status_.error);
        }
    }
    bool wants_host_image() const override { return adds_ && mean_->collector.wants_host_image(); }
    SinkStatus status() const override {
        const std::scoped_lock lock(mutex_);
        return status_;
    }

private:
    void write() { // requires the mutex
        mean_->collector.finish();
        const std::shared_ptr<const BaselineImage> mean = mean_->collector.taken();
        if (!mean)
            throw RunError("The mean map " + options_.path + " is not written. " + mean_->collector.error());
        if (mean->frames() < mean_->results && adds_)
            run_log().warn("{} is the mean of the last {} of {} results: those before them were made with "
                           "other settings, for example another exposure.",
                           options_.path, mean->frames(), mean_->results);
        const auto values = std::make_shared<std::vector<float>>(mean->values());
        Result result = mean_->last;
        result.image = borrowed_frame({reinterpret_cast<std::byte*>(values->data()), mean->shape()}, values);
        status_.path = write_snapshot(result, options_, stream_);
        status_.written = mean->frames();
        status_.bytes = std::filesystem::file_size(status_.path);
    }

    const RecordOptions options_;
    StreamInfo stream_;
    const std::shared_ptr<MeanOfRun> mean_;
    const bool adds_; ///< only the first file of a mean adds results to it
    mutable std::mutex mutex_;
    SinkStatus status_;
};

} // namespace

std::shared_ptr<Sink> make_mean_map(const std::string& path, const Settings& settings,
                                    std::shared_ptr<MeanOfRun>& mean) {
    RecordOptions options;
    options.path = path;
    options.mapping = mapping_for(settings, settings.chain.quantity());
    const bool first = !mean;
    if (first)
        mean = std::make_shared<MeanOfRun>();
    return std::make_shared<MeanMap>(std::move(options), mean, first);
}

} // namespace specklescope
