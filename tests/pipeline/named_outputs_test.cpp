// Further images of a stage (StageType::also), from the executor to sinks, and the one that is displayed.
#include "base/error.hpp"
#include "pipeline/executor.hpp"
#include "pipeline/named_sink.hpp"
#include "tests/support/running.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace specklescope::named_outputs_test {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Twice the input; also half of it (with a NaN in the first pixel) and its negative.
struct TwiceParams {
    unsigned also = 3;
    double factor = 2;
    int crop = 0;
};

class Twice final : public HostStage {
public:
    explicit Twice(const Params& params) : params_(params.as<TwiceParams>()) {}
    Shape prepare(const Shape& input) override {
        return {input.width - 2 * params_.crop, input.height - 2 * params_.crop, 1, PixelType::f32};
    }
    void set_params(const Params& params) override { params_ = params.as<TwiceParams>(); }
    void run(ConstHostView input, HostView output, const RunContext<Space::host>& context) override {
        for (int y = 0; y < output.shape.height; ++y)
            for (int x = 0; x < output.shape.width; ++x) {
                const float in = input.as<float>().row(y + params_.crop)[x + params_.crop];
                output.as<float>().row(y)[x] = static_cast<float>(params_.factor) * in;
                std::size_t next = 0;
                if (params_.also & 1U)
                    context.also[next++].as<float>().row(y)[x] = x + y == 0 ? kNaN : in / 2;
                if (params_.also & 2U)
                    context.also[next++].as<float>().row(y)[x] = -in;
            }
    }

private:
    TwiceParams params_;
};

const StageType& twice_type() {
    static const ParamTable table =
        Declare<TwiceParams>("stage twice")
            .several("also", &TwiceParams::also, {"half", "negative"}, {.cost = Cost::rebuild})
            .real("factor", &TwiceParams::factor, {.min = 0, .max = 10})
            .integer("crop", &TwiceParams::crop, {.min = 0, .max = 3, .cost = Cost::rebuild})
            .table();
    static const StageType type = {
        .name = "twice",
        .doc = "doubles",
        .table = &table,
        .types = {PixelType::f32},
        .channels = {1},
        .tolerance = 0,
        .quantity = same_quantity,
        .make_host = [](const Params& params) -> std::unique_ptr<HostStage> {
            return std::make_unique<Twice>(params);
        },
        .make_device = nullptr,
        .also =
            [](const Params& params, const Quantity& input) {
                const auto& twice = params.as<TwiceParams>();
                std::vector<NamedOutput> outputs;
                if (twice.also & 1U)
                    outputs.push_back({"half", {"half of " + input.name, "h", "DN", Measure::intensity}});
                if (twice.also & 2U)
                    outputs.push_back({"negative", {"negative", "n", "DN", Measure::other}});
                return outputs;
            }};
    return type;
}

Chain chain_of(std::vector<std::string> also, int crop = 0) {
    Chain chain;
    for (const std::string& text : also) {
        ChainStage stage{.type = &twice_type(), .params = Params(*twice_type().table)};
        stage.params.set_text("also", text);
        stage.params.set_text("crop", std::to_string(crop));
        chain.add(std::move(stage));
    }
    return chain;
}

Frame frame_of(std::vector<float>& pixels, const Shape& shape) {
    return borrowed_frame({reinterpret_cast<std::byte*>(pixels.data()), shape});
}

const NamedImage& image_of(const Result& result, std::string_view name) {
    return *std::find_if(result.also->begin(), result.also->end(),
                         [&](const NamedImage& one) { return one.name == name; });
}

class NamedOutputs : public ::testing::Test {
protected:
    Result run(const Chain& chain) {
        executor->set_chain(std::make_shared<const Chain>(chain), ++version);
        executor->submit(frame_of(pixels, kShape), true);
        return executor->collect(true).value();
    }
    static constexpr Shape kShape{16, 3, 1, PixelType::f32};
    std::vector<float> pixels = std::vector<float>(48, 6.0F);
    std::unique_ptr<Executor> executor = make_host_executor(2);
    std::uint64_t version = 0;
};

TEST_F(NamedOutputs, AreMadeInThePassOfTheirStage) {
    const Result result = run(chain_of({"half+negative"}));
    ASSERT_TRUE(result.also);
    ASSERT_EQ(result.also->size(), 2);
    EXPECT_EQ(result.image.host().as<float>().row(1)[4], 12);
    EXPECT_EQ(image_of(result, "half").image.host().as<float>().row(1)[4], 3);
    EXPECT_EQ(image_of(result, "negative").image.host().as<float>().row(1)[4], -6);
    EXPECT_EQ(image_of(result, "half").counts.undefined, 1);
    EXPECT_EQ(image_of(result, "negative").counts.undefined, 0);
    EXPECT_EQ(result.counts.undefined, 0);
    EXPECT_EQ(image_of(result, "half").quantity.name, "half of intensity");
}

TEST_F(NamedOutputs, BelongToTheStageThatMadeThem) {
    const Result result = run(chain_of({"half", "negative", ""}));
    EXPECT_EQ(result.image.host().as<float>().row(0)[1], 48);
    EXPECT_EQ(image_of(result, "half").image.host().as<float>().row(0)[1], 3);
    EXPECT_EQ(image_of(result, "negative").image.host().as<float>().row(0)[1], -12);
    EXPECT_EQ(image_of(result, "half").chain->stages().size(), 1);
    EXPECT_EQ(image_of(result, "negative").chain->stages().size(), 2);
}

TEST_F(NamedOutputs, FollowAnEditOfTheirStage) {
    (void)run(chain_of({"half"}));
    EXPECT_FALSE(run(chain_of({""})).also);
    Chain chain = chain_of({"negative"});
    EXPECT_EQ(run(chain).also->front().name, "negative");
    chain.stages()[0].params.set_text("factor", "5"); // free: the plan stays
    const Result edited = run(chain);
    EXPECT_EQ(edited.image.host().as<float>().row(0)[0], 30);
    EXPECT_EQ(edited.also->front().image.host().as<float>().row(0)[0], -6);
}

TEST_F(NamedOutputs, OfOneNameAreRefused) {
    EXPECT_THROW((void)settled(chain_of({"half", "half"})), UsageError);
    EXPECT_NO_THROW((void)settled(chain_of({"half", "negative"})));
    Chain bypassed = chain_of({"half", "half"});
    bypassed.stages()[0].bypassed = true;
    EXPECT_NO_THROW((void)settled(bypassed));
    EXPECT_THROW(chain_of({"half+third"}), UsageError);
}

TEST_F(NamedOutputs, AreWrittenInOneOrderAsText) {
    Chain chain = chain_of({"negative+half"});
    EXPECT_EQ(std::get<std::string>(chain.stages()[0].params.get("also")), "half+negative");
}

/// Held images keep their slots: later frames get others.
TEST_F(NamedOutputs, StayWhileTheyAreHeld) {
    const Chain chain = chain_of({"half"});
    const Result first = run(chain);
    for (float& pixel : pixels)
        pixel = 100;
    const Result second = run(chain);
    EXPECT_EQ(first.also->front().image.host().as<float>().row(2)[5], 3);
    EXPECT_EQ(second.also->front().image.host().as<float>().row(2)[5], 50);
}

TEST_F(NamedOutputs, BecomeAResultOfTheirOwn) {
    const Result result = run(chain_of({"half", "negative"}));
    EXPECT_FALSE(named_result(result, ""));
    EXPECT_FALSE(named_result(result, "third"));
    const Result half = named_result(result, "half").value();
    EXPECT_EQ(half.quantity.symbol, "h");
    EXPECT_EQ(half.counts.undefined, 1);
    EXPECT_EQ(half.image.host().as<float>().row(0)[1], 3);
    EXPECT_EQ(half.info.sequence, result.info.sequence);
}

} // namespace specklescope::named_outputs_test
