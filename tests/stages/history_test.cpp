// The declared history of a stage is sufficient: after that many frames its window is full, so that a step
// back shows the image of a run.
#include "tests/support/images.hpp"
#include "tests/support/stage_runner.hpp"

namespace specklescope::test::history_test {

TEST(History, WindowIsFullAfterTheDeclaredFrames) {
    auto random = test_random(15601);
    int stages = 0;
    for (const StageType& type : stage_types()) {
        if (!type.stateful || type.exposures == Exposures::takes_several) // that one ends with a cycle
            continue;
        const Shape input{23, 17, 1, PixelType::f32};
        const Params params(*type.table);
        const std::unique_ptr<HostStage> probe = type.make_host(params);
        probe->prepare(input);
        if (probe->warmup().wanted == 0)
            continue;
        SCOPED_TRACE(type.name);
        ++stages;
        ASSERT_NE(type.history, nullptr);
        StageRunner run(std::string(type.name), {}, input);
        const int before = type.history(params);
        for (int i = 0; i <= before; ++i) {
            EXPECT_FALSE(i > 0 && run.stage().warmup().done()) << i;
            run.run(uniform_image<float>(23, 17, 1, 2, random));
        }
        EXPECT_TRUE(run.stage().warmup().done()) << before;
    }
    EXPECT_GE(stages, 4);
}

} // namespace specklescope::test::history_test
