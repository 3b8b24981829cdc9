#include "files/replaceable.hpp"

#include "base/error.hpp"
#include "base/one_line.hpp"
#include "files/input_file.hpp"

#include <filesystem>

namespace specklescope {

namespace {

bool may_be_replaced(const std::string& path, const ReplaceableKind& kind) {
    constexpr std::size_t kMost = std::size_t{1} << 22;
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status))
        return true;
    if (!std::filesystem::is_regular_file(status))
        return false;
    const InputFile file = open_input(path);
    std::string text(kMost, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    return text.empty() ? std::feof(file.get()) != 0 : kind.holds(text);
}

} // namespace

void refuse_other_kind(const std::string& path, const ReplaceableKind& kind) {
    if (!may_be_replaced(path, kind))
        throw RunError("'" + one_line(path) + "' exists and does not hold " + std::string(kind.what) +
                       " of this program, so it is not replaced. Give " + std::string(kind.option) +
                       " another name.");
}

} // namespace specklescope
