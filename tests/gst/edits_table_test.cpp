// The table of edits through the element while frames run; each frame matches the current chain.
#include "tests/edits/table.hpp"
#include "tests/gst/harness.hpp"

#include <memory>

namespace edits_table_test {

using namespace element;

TEST(TableOfEdits, HoldsForTheElement) {
    std::mt19937 random{random_seed() + 3};
    const Picture picture = random_picture("GRAY16_LE", 67, 45, random);
    std::unique_ptr<Harness> harness;
    edits::check_all({.begin =
                          [&](const std::string& chain) {
                              harness = std::make_unique<Harness>("");
                              g_object_set(harness->element(), "chain", chain.c_str(), nullptr);
                              harness->caps("GRAY16_LE", 67, 45);
                              harness->through(picture);
                          },
                      .edit =
                          [&](const edits::Row& row) {
                              const std::string edit =
                                  row.stage.empty()
                                      ? row.text
                                      : row.stage + "." + row.values[0].first + "=" + row.values[0].second;
                              g_object_set(harness->element(), row.stage.empty() ? "chain" : "edit",
                                           edit.c_str(), nullptr);
                              harness->through(picture);
                              EXPECT_EQ(harness->message(GST_MESSAGE_ERROR), "");
                              return harness->message(GST_MESSAGE_WARNING);
                          },
                      .text =
                          [&] {
                              gchar* text = nullptr;
                              g_object_get(harness->element(), "chain", &text, nullptr);
                              const std::string made = text;
                              g_free(text);
                              return made;
                          },
                      .takes = [](const edits::Row& row) { return row.values.size() < 2; }});
}

} // namespace edits_table_test
