// Runs one stage over a sequence of frames, in an executor or directly, and keeps all outputs.
#pragma once

#include "base/error.hpp"
#include "pipeline/convert.hpp"
#include "pipeline/counts.hpp"
#include "pipeline/executor.hpp"
#include "tests/stages/stage_cases.hpp"

#include <cstring>
#include <memory>
#include <optional>

namespace specklescope::test {

/// Processing of one frame.
struct Turn {
    int frame = 0;
    bool again = false;         ///< the previous frame again, like after an edit while paused
    bool discontinuity = false; ///< does not follow the previous frame
    int presses = 0;            ///< presses of every button before it
};
using Script = std::vector<Turn>;

struct Shot {
    Shape shape;
    std::vector<std::byte> pixels; ///< rows without padding
    PixelCounts counts;
    Warmup warmup;
    double full_scale = 0;    ///< of the frame
    std::vector<Shot> also{}; ///< named outputs, only shapes and pixels
};

struct Outcome {
    bool refused = false;
    std::string why;
    std::string note; ///< choice of the stage
    std::vector<Shot> shots;
};

/// Frames are painted once and copied into the slots of every run.
class Scene {
public:
    Scene(const Shape& shape, std::uint64_t stream)
        : shape_(shape), stream_(stream),
          full_(shape.type == PixelType::u8    ? 255
                : shape.type == PixelType::u16 ? (stream % 2 == 0 ? 4095 : 65535)
                                               : (stream % 2 == 0 ? 1.0 : 4000.0)) {}
    const Shape& shape() const { return shape_; }
    FrameInfo info(const Turn& turn) const {
        FrameInfo info;
        info.sequence = static_cast<std::uint64_t>(turn.frame);
        info.full_scale = shape_.type == PixelType::f32 ? 0 : full_;
        info.discontinuity = turn.discontinuity;
        return info;
    }
    ConstHostView frame(int index) {
        while (static_cast<int>(frames_.size()) <= index) {
            frames_.emplace_back(shape_.bytes());
            paint_scene({frames_.back().data(), shape_}, full_, stream_,
                        static_cast<int>(frames_.size()) - 1);
        }
        return {frames_[static_cast<std::size_t>(index)].data(), shape_};
    }

private:
    Shape shape_;
    std::uint64_t stream_;
    double full_;
    std::vector<std::vector<std::byte>> frames_;
};

inline ChainStage pressed(ChainStage stage, int presses) {
    for (const ParamDecl& decl : stage.params.table().decls())
        if (decl.kind == ParamKind::action)
            stage.params.set(decl.name, std::int64_t{presses});
    return stage;
}

inline Shot shot_of(ConstHostView image) {
    Shot shot;
    shot.shape = image.shape;
    shot.pixels.resize(image.shape.bytes());
    copy_pixels(image, HostView(shot.pixels.data(), image.shape));
    return shot;
}

inline Outcome run_script(Executor& executor, const StageCase& test, Scene& scene, const Script& script) {
    Outcome outcome;
    try {
        FrameRing ring(scene.shape(), 2, executor.slot_memory());
        int presses = -1;
        std::uint64_t version = 0;
        for (const Turn& turn : script) {
            if (turn.presses != presses) {
                presses = turn.presses;
                auto chain = std::make_shared<Chain>();
                chain->add(pressed(test.stage, presses));
                executor.set_chain(std::move(chain), ++version);
            }
            Frame frame = ring.acquire(std::chrono::seconds(10));
            copy_pixels(scene.frame(turn.frame), frame.host());
            frame.info() = scene.info(turn);
            executor.submit(std::move(frame), true, turn.again);
            const std::optional<Result> result = executor.collect(true);
            Shot shot = shot_of(result->image.host());
            shot.counts = result->counts;
            shot.warmup = result->warmup;
            shot.full_scale = result->info.full_scale;
            if (result->also)
                for (const NamedImage& image : *result->also)
                    shot.also.push_back(shot_of(image.image.host()));
            outcome.note = result->notes->front();
            outcome.shots.push_back(std::move(shot));
        }
    } catch (const UsageError& error) {
        outcome.refused = true;
        outcome.why = error.what();
    }
    return outcome;
}

/// The stage on views whose row pitch is an odd number of pixels, in memory that ends with the last pixel.
/// Nothing if the stage would need a conversion. `poison` is in the output before each run; the padding must
/// still contain it afterwards.
inline std::optional<Outcome> run_alone(const StageCase& test, Scene& scene, const Script& script,
                                        std::byte poison, bool* padding_kept) {
    if (accepted_shape(*test.stage.type, scene.shape()) != scene.shape())
        return {};
    Outcome outcome;
    *padding_kept = true;
    try {
        const auto stage = test.stage.type->make_host(pressed(test.stage, script.front().presses).params);
        const Shape out = stage->prepare(scene.shape());
        const auto pitch_of = [](const Shape& shape) {
            return shape.row_bytes() + 3 * static_cast<std::size_t>(shape.channels) * pixel_bytes(shape.type);
        };
        const auto size_of = [&](const Shape& shape) {
            return pitch_of(shape) * static_cast<std::size_t>(shape.height - 1) + shape.row_bytes();
        };
        std::vector<std::byte> input(size_of(scene.shape())), output(size_of(out));
        const Params& params = test.stage.params;
        std::vector<std::vector<std::byte>> also(
            test.stage.type->also ? test.stage.type->also(params, Quantity{}).size() : 0, output);
        std::vector<HostView> also_views;
        for (std::vector<std::byte>& image : also)
            also_views.emplace_back(image.data(), out, pitch_of(out));
        for (const Turn& turn : script) {
            std::fill(input.begin(), input.end(), poison);
            std::fill(output.begin(), output.end(), poison);
            const HostView in(input.data(), scene.shape(), pitch_of(scene.shape()));
            copy_pixels(scene.frame(turn.frame), in);
            stage->set_params(pressed(test.stage, turn.presses).params);
            if (turn.discontinuity && !turn.again)
                stage->reset();
            const FrameInfo info = scene.info(turn);
            PixelCounts counts;
            const HostView result(output.data(), out, pitch_of(out));
            stage->run(in, result, {.info = info, .counts = counts, .again = turn.again, .also = also_views});
            // Completed like in an executor; the scenes contain only numbers.
            if (const auto threshold = saturation_threshold(in.shape.type, info)) {
                counts.windows = stage->counted().saturated ? out.pixels() : 0;
                counts.raw_saturated = count_saturated(in, *threshold);
                counts.raw_samples = in.shape.samples();
            }
            Shot shot = shot_of(result);
            shot.counts = counts;
            shot.warmup = stage->warmup();
            for (const HostView& view : also_views)
                shot.also.push_back(shot_of(view));
            outcome.shots.push_back(std::move(shot));
            for (int y = 0; y + 1 < out.height; ++y)
                for (std::size_t i = out.row_bytes(); i < pitch_of(out); ++i)
                    *padding_kept =
                        *padding_kept && output[static_cast<std::size_t>(y) * pitch_of(out) + i] == poison;
        }
    } catch (const UsageError& error) {
        outcome.refused = true;
        outcome.why = error.what();
    }
    return outcome;
}

/// Number of frames until the stage's window is full; 0 without a window. −1: it refuses.
inline int frames_wanted(const StageCase& test, Scene& scene) {
    const auto executor = make_host_executor(1);
    const Outcome first = run_script(*executor, test, scene, {{.frame = 0}});
    return first.refused ? -1 : first.shots[0].warmup.wanted;
}

/// Frames in order; for a stage with a window until it is full and has been replaced once, including a
/// repeated frame, a button and a restart.
inline Script script_for(const StageCase& test, Scene& scene) {
    if (!test.stage.type->stateful)
        return {{.frame = 0}, {.frame = 1}, {.frame = 1, .again = true}};
    const int wanted = frames_wanted(test, scene);
    if (wanted < 0)
        return {{.frame = 0}};
    const bool usual =
        to_string(test.stage) == to_string(ChainStage{test.stage.type, Params(*test.stage.type->table)});
    const int count = test.large && !usual ? 4 : wanted <= 64 && !test.large ? 2 * wanted + 9 : wanted + 5;
    Script script;
    for (int i = 0; i < count; ++i) {
        Turn turn;
        turn.frame = i;
        turn.presses = i > count / 4 ? 1 : 0;
        turn.discontinuity = i == 0 || i == count - 1 - std::min(wanted / 2, 6);
        script.push_back(turn);
        if (i == 0 || i == count / 3) {
            turn.again = true;
            script.push_back(turn);
        }
    }
    return script;
}

} // namespace specklescope::test
