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

namespace {

class MeanMap final : public Sink {
public:
    explicit MeanMap(RecordOptions options) : options_(std::move(options)) {}
    MeanMap(const MeanMap&) = delete;
    MeanMap& operator=(const MeanMap&) = delete;
    ~MeanMap() override { close(); }

    void open(const StreamInfo& stream) override {
        check_snapshot(options_.path);
        stream_ = stream;
    }
    void push(const Result& result, bool may_wait) override {
        collector_.push(result, may_wait);
        if (result.warming_up())
            return;
        last_.info = result.info; // without pixels: their slots are needed
        last_.chain = result.chain;
        last_.quantity = result.quantity;
        last_.exposure = result.exposure;
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
    bool wants_host_image() const override { return collector_.wants_host_image(); }
    SinkStatus status() const override {
        const std::scoped_lock lock(mutex_);
        return status_;
    }

private:
    void write() { // requires the mutex
        collector_.finish();
        const std::shared_ptr<const BaselineImage> mean = collector_.taken();
        if (!mean)
            throw RunError("The mean map " + options_.path + " is not written. " + collector_.error());
        const auto values = std::make_shared<std::vector<float>>(mean->values());
        last_.image = borrowed_frame({reinterpret_cast<std::byte*>(values->data()), mean->shape()}, values);
        status_.path = write_snapshot(last_, options_, stream_);
        status_.written = mean->frames();
        status_.bytes = std::filesystem::file_size(status_.path);
    }

    const RecordOptions options_;
    StreamInfo stream_;
    BaselineCollector collector_{std::numeric_limits<double>::infinity()};
    Result last_; ///< facts of the newest result of the mean
    mutable std::mutex mutex_;
    SinkStatus status_;
};

} // namespace

std::shared_ptr<Sink> make_mean_map(const std::string& path, const Settings& settings) {
    RecordOptions options;
    options.path = path;
    options.mapping = mapping_for(settings, settings.chain.quantity());
    return std::make_shared<MeanMap>(std::move(options));
}

} // namespace specklescope
