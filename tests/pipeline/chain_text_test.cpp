// The text of a chain is parsed back to the chain.
#include "pipeline/chain.hpp"

#include <gtest/gtest.h>

namespace chain_text_test {

using namespace specklescope;

TEST(ChainText, EveryStageIsParsedBack) {
    Chain chain;
    for (const StageType& type : stage_types()) {
        if (chain.stages().size() < kMaxStages)
            chain.add(type.name);
        Chain alone;
        alone.add(type.name);
        EXPECT_EQ(to_string(chain_from_text(to_string(alone))), to_string(alone));
    }
    EXPECT_EQ(to_string(chain_from_text(to_string(chain))), to_string(chain));
}

TEST(ChainText, BarsQuotesAndCommasInAValueAreKept) {
    for (const std::string name : {"a|b.png", "a,b.png", "a\"b.png", "a\\b.png", "|", "\"|\"", "a\\|\"b,"}) {
        Chain chain;
        chain.add("background");
        chain.add("speckle");
        chain.stages()[0].params.set("dark_file", name);
        const Chain read = chain_from_text(to_string(chain));
        ASSERT_EQ(read.stages().size(), 2U) << to_string(chain);
        EXPECT_EQ(std::get<std::string>(read.stages()[0].params.get("dark_file")), name);
    }
}

TEST(ChainText, EmptyTextIsAnEmptyChain) {
    for (const char* text : {"", "  ", "none", " none "})
        EXPECT_TRUE(chain_from_text(text).stages().empty()) << text;
    EXPECT_EQ(chain_from_text("gamma|gaussian").stages().size(), 2U);
}

TEST(ChainText, AGapIsRefused) {
    for (const char* text : {"|", "gamma |", "| gamma", "gamma || gaussian"})
        EXPECT_THROW(chain_from_text(text), UsageError) << text;
    EXPECT_THROW(chain_from_text("gamma | nothing"), UsageError);
}

} // namespace chain_text_test
