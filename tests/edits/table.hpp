// Rows of tests/edits/table.txt.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace edits {

struct Row {
    std::string chain;
    std::string stage;                                       ///< empty: the edit is a whole chain
    std::string text;                                        ///< the chain, or "radius=3,output=contrast"
    std::vector<std::pair<std::string, std::string>> values; ///< of the stage
    std::string after;                                       ///< empty: the edit is refused
    std::vector<std::string> named;                          ///< in the refusal
};

inline std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// "a=1,b="2,3"" without the quotes of values.
inline std::vector<std::pair<std::string, std::string>> values_of(const std::string& text) {
    std::vector<std::pair<std::string, std::string>> values(1);
    bool quoted = false, of_name = true;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string& part = of_name ? values.back().first : values.back().second;
        if (text[i] == '"')
            quoted = !quoted;
        else if (quoted && text[i] == '\\')
            part += text[++i];
        else if (!quoted && text[i] == ',')
            of_name = (values.emplace_back(), true);
        else if (of_name && text[i] == '=')
            of_name = false;
        else
            part += text[i];
    }
    return values;
}

inline std::vector<Row> rows() {
    std::vector<Row> made;
    std::ifstream file(SPECKLESCOPE_EDITS_TABLE);
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(" >> "), second = line.find(" >> ", first + 1);
        if (line.starts_with('#') || second == std::string::npos)
            continue;
        Row row;
        row.chain = trimmed(line.substr(0, first));
        const std::string edit = trimmed(line.substr(first + 4, second - first - 4));
        row.stage = edit.substr(0, edit.find(':'));
        row.text = trimmed(edit.substr(edit.find(':') + 1));
        if (row.stage == "chain")
            row.stage.clear();
        else
            row.values = values_of(row.text);
        row.after = trimmed(line.substr(second + 4));
        if (row.after.starts_with('!')) {
            std::istringstream names(std::exchange(row.after, "").substr(1));
            for (std::string name; std::getline(names, name, ',');)
                row.named.push_back(trimmed(name));
        }
        made.push_back(std::move(row));
    }
    return made;
}

/// One way into the program. `text_of` returns a chain's text with every parameter.
struct Adapter {
    std::function<void(const std::string& chain)> begin;
    std::function<std::string(const Row& row)> edit; ///< returns the refusal, or ""
    std::function<std::string()> text;
    std::function<bool(const Row& row)> takes = [](const Row&) { return true; };
};

inline void check_all(const Adapter& adapter) {
    int checked = 0;
    for (const Row& row : rows()) {
        if (!adapter.takes(row))
            continue;
        SCOPED_TRACE(row.chain + " >> " + row.stage + ": " + row.text);
        adapter.begin(row.after.empty() ? row.chain : row.after);
        const std::string expected = adapter.text();
        adapter.begin(row.chain);
        const std::string refusal = adapter.edit(row);
        EXPECT_EQ(refusal.empty(), row.named.empty()) << refusal;
        for (const std::string& name : row.named)
            EXPECT_NE(refusal.find(name), std::string::npos) << refusal << "\ndoes not name " << name;
        EXPECT_EQ(adapter.text(), expected);
        ++checked;
    }
    EXPECT_GT(checked, 20);
}

} // namespace edits
