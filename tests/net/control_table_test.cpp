// The table of edits through requests.
#include "tests/edits/table.hpp"
#include "tests/support/control_client.hpp"

namespace specklescope::control_table_test {

using test::Answer;
using test::ControlTest;
using test::Json;

TEST_F(ControlTest, TheTableOfEditsHoldsForRequests) {
    auto program = run();
    edits::check_all(
        {.begin =
             [&](const std::string& chain) {
                 const Answer set = program->ask("set_chain", {{"chain", chain}});
                 ASSERT_TRUE(set.ok()) << set.error();
             },
         .edit =
             [&](const edits::Row& row) {
                 if (row.stage.empty())
                     return program->ask("set_chain", {{"chain", row.text}}).error();
                 Json stage = row.stage, values;
                 if (row.stage.find_first_not_of("0123456789") == std::string::npos)
                     stage = std::stoi(row.stage);
                 for (const auto& [name, value] : row.values)
                     values[name] = value;
                 const Answer answer = program->ask("set_values", {{"stage", stage}, {"values", values}});
                 EXPECT_EQ(answer.json.value("kind", "usage"), "usage");
                 return answer.error();
             },
         .text = [&] { return program->ask("get").json["chain"].get<std::string>(); }});
    EXPECT_EQ(program->quit().status, 0);
}

} // namespace specklescope::control_table_test
