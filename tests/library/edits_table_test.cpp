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

TEST(TableOfEdits, HoldsForAChainAndAStream) {
    std::unique_ptr<Chain> chain;
    std::unique_ptr<Stream> stream;
    edits::check_all(
        {.begin =
             [&](const std::string& text) {
                 chain = std::make_unique<Chain>(text.c_str(), "backend=cpu");
                 stream = std::make_unique<Stream>("synthetic:uniform?width=64&height=48&live=false",
                                                   text.c_str(), "backend=cpu");
             },
         .edit =
             [&](const edits::Row& row) {
                 const char* const stage = row.stage.c_str();
                 const char* const text = row.text.c_str();
                 const std::string of_stream =
                     refusal(row.stage.empty() ? specklescope_stream_replace(*stream, text)
                                               : specklescope_stream_set_values(*stream, stage, text));
                 std::string of_chain =
                     refusal(row.stage.empty() ? specklescope_chain_replace(*chain, text)
                                               : specklescope_chain_set_values(*chain, stage, text));
                 EXPECT_EQ(of_stream, of_chain);
                 return of_chain;
             },
         .text = [&] { return text_of(*chain); }});
}

} // namespace edits_table_test
