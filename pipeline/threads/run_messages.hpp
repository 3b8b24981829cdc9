// Messages of the processing thread about its input, its chain and its results, each logged once. Internal to
// pipeline/.
#pragma once

#include "pipeline/threads/flow.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace specklescope {

class RunMessages {
public:
    explicit RunMessages(Flow& flow) : flow_(flow) {}

    /// The chain for the next frames. Logs each warning once, until an edit removes its cause.
    void chain(const std::shared_ptr<const Chain>& now) {
        chain_ = now;
        const std::vector<std::string> lines = advice_lines(*now);
        for (const std::string& line : lines)
            if (std::find(advised_.begin(), advised_.end(), line) == advised_.end())
                flow_.log(Message::Level::warning, line);
        advised_ = lines;
        scattering_.clear();
        for (const ChainStage& stage : now->stages())
            if (!said_clipped_ && !stage.bypassed && stage.type->scatters &&
                stage.type->scatters(stage.params))
                scattering_ = stage.type->name;
    }

    /// Checks properties that all frames share with the first one.
    void input(const Frame& frame) {
        for (const ChainStage& stage : chain_->stages()) {
            const auto& channels = stage.type->channels;
            const bool grey_only = std::find(channels.begin(), channels.end(), 3) == channels.end();
            if (grey_only && frame.shape().channels == 3 && !std::exchange(said_grey_, true))
                flow_.log(Message::Level::info, "Stage " + std::string(stage.type->name) +
                                                    " gets of colour: " + to_string(chain_->channel()) +
                                                    "; --channel takes another (a red laser: red).");
            if (grey_only && !said_lossy_)
                lossy(std::string(stage.type->name));
        }
        clipped(frame);
    }

    void result(const Result& result) {
        histories(result);
        const double share = saturated_share(result.counts);
        if (said_saturated_ || !(share > kSaturationWarning))
            return;
        said_saturated_ = true;
        char percent[16];
        std::snprintf(percent, sizeof percent, "%.1f", 100 * share);
        const bool image = result.quantity.measure == Measure::intensity;
        flow_.log(image ? Message::Level::info : Message::Level::warning,
                  std::string(percent) + " % of the samples of frame " +
                      std::to_string(result.info.sequence) + " are at full scale" +
                      (image ? "."
                             : ", which makes contrast too low and flow too high there. Reduce light, "
                               "exposure or gain."));
    }

    /// Logs regions that are not fully on the image: once per image size, and after an edit that causes it.
    void regions(const Result& result) {
        if (!result.regions || same_places(result.regions->placed.get(), placed_.get()))
            return;
        const auto before = std::exchange(placed_, result.regions->placed);
        for (const std::string& line : placing_lines(*placed_, before.get()))
            flow_.log(Message::Level::warning, line);
    }

private:
    /// Logs that a seek within a file emptied the windows; once, and not if preceding frames filled them.
    void histories(const Result& result) {
        if (const std::string_view what = basis_.change(result.info, *result.chain);
            !what.empty() && !result.warmup.done() && !std::exchange(said_basis_, true))
            flow_.log(Message::Level::warning, "The " + std::string(what) + " changed at frame " +
                                                   std::to_string(result.info.sequence) +
                                                   ": stages with history restart after each such change (" +
                                                   to_string(result.warmup) + ").");
        const bool first = !std::exchange(any_, true);
        if (first || said_anew_ || !result.info.discontinuity || result.info.position.value_or(0) == 0 ||
            result.warmup.done())
            return;
        said_anew_ = true;
        flow_.log(Message::Level::info, "Stages with history restart at frame " +
                                            std::to_string(*result.info.position) +
                                            ", as after every jump: " + to_string(result.warmup) + ".");
    }

    /// Logs that an image with a full scale has clipped its lamps, which cause the glare.
    void clipped(const Frame& frame) {
        if (scattering_.empty() || !(frame.info().full_scale > 0 || frame.shape().type != PixelType::f32))
            return;
        flow_.log(
            Message::Level::warning,
            "Lamps are clipped at the full scale of this image, so stage " + std::exchange(scattering_, {}) +
                " underestimates the glare. Use an image of high dynamic range (.hdr, .exr, float TIFF).");
        said_clipped_ = true;
    }

    void lossy(const std::string& stage) {
        std::string codec;
        {
            const std::scoped_lock lock(flow_.mutex);
            codec = flow_.status.source.lossy;
        }
        said_lossy_ = true;
        if (!codec.empty())
            flow_.log(Message::Level::warning, "The source is coded by " + codec +
                                                   ", which smooths speckle: stage " + stage +
                                                   " makes contrast too low and flow too high. Record or "
                                                   "send without loss (FFV1, raw, TIFF).");
    }

    Flow& flow_;
    std::shared_ptr<const Chain> chain_ = std::make_shared<Chain>();
    std::vector<std::string> advised_; ///< warnings logged for the current chain
    std::string scattering_;           ///< stage misled by clipped lamps, until logged
    std::shared_ptr<const PlacedRegions> placed_;
    bool said_grey_ = false, said_lossy_ = false, said_saturated_ = false, said_clipped_ = false;
    bool any_ = false, said_anew_ = false, said_basis_ = false;
    FrameBasis basis_;
};

} // namespace specklescope
