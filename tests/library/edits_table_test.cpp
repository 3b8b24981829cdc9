// The table of edits through C, for a chain and for a stream.
#include "tests/edits/table.hpp"
#include "tests/library/client.hpp"

#include <memory>

namespace edits_table_test {

using namespace client;

std::string text_of(specklescope_chain* chain) {
    char text[4096] = "";
    EXPECT_EQ(specklescope_chain_text(chain, text, sizeof text, nullptr), SPECKLESCOPE_OK);
    return text;
}

std::string refusal(specklescope_status status) {
    if (status == SPECKLESCOPE_OK)
        return "";
    expect_refused(status, SPECKLESCOPE_USAGE_ERROR, "");
    return specklescope_last_error();
}

TEST(TableOfEdits, HoldsForAChain) {
    std::unique_ptr<Chain> chain;
    edits::check_all(
        {.begin =
             [&](const std::string& text) { chain = std::make_unique<Chain>(text.c_str(), "backend=cpu"); },
         .edit =
             [&](const edits::Row& row) {
                 return refusal(row.stage.empty() ? specklescope_chain_replace(*chain, row.text.c_str())
                                                  : specklescope_chain_set_values(*chain, row.stage.c_str(),
                                                                                  row.text.c_str()));
             },
         .text = [&] { return text_of(*chain); }});
}

} // namespace edits_table_test
