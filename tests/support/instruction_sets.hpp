// Tests that run once for every compiled instruction set of this processor.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <string>

namespace specklescope::test {

class EveryInstructionSet : public testing::TestWithParam<std::int64_t> {
protected:
    void SetUp() override {
        hwy::SetSupportedTargetsForTest(GetParam());
        hwy::GetChosenTarget().Update(GetParam());
    }
    void TearDown() override {
        hwy::SetSupportedTargetsForTest(0);
        hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    }
};

inline auto instruction_sets() { return testing::ValuesIn(hwy::SupportedAndGeneratedTargets()); }

inline std::string instruction_set_name(const testing::TestParamInfo<std::int64_t>& set) {
    return hwy::TargetName(set.param);
}

} // namespace specklescope::test
