#include "recording/line_pages.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace specklescope {

namespace {

/// Bytes of whole lines within the first `room` bytes.
std::size_t whole_within(std::string_view lines, std::size_t room) {
    const std::size_t most = std::min(room, lines.size());
    return most == 0 ? 0 : lines.rfind('\n', most - 1) + 1; // npos + 1 = 0
}

/// Cuts the file behind what it took of `bytes`, up to the end of a line. Returns the bytes that stay.
std::size_t keep_whole(const File& file, std::uint64_t& end, std::string_view bytes) {
    const std::uint64_t there = file.bytes();
    const std::size_t kept = there > end ? whole_within(bytes, static_cast<std::size_t>(there - end)) : 0;
    end += kept;
    (void)::ftruncate(file.fd(), static_cast<off_t>(end)); // to be shorter needs no room
    return kept;
}

/// What the next write takes: whole lines, and whether the rest of the page is to be filled behind them.
struct Piece {
    std::size_t lines = 0, filling = 0;
};

Piece next_piece(std::string_view lines, std::size_t room) {
    std::size_t take = whole_within(lines, room);
    if (room - take == 1) // no room for a comment, neither now nor when more comes; take > 0
        take = whole_within(lines, take - 1);
    return {take, take < lines.size() ? room - take : 0};
}

} // namespace

int append_lines(const File& file, std::uint64_t& end, std::string_view& lines) {
    // In a page of its own, too: the system copies either all of it or, where the page is not there, nothing.
    alignas(kLinePage) std::array<char, kLinePage> page;
    while (!lines.empty()) {
        const std::size_t room = kLinePage - static_cast<std::size_t>(end % kLinePage);
        Piece piece = next_piece(lines, room);
        std::string_view bytes;
        std::string whole;
        if (piece.lines == 0 && room == kLinePage) { // longer than a page
            piece.lines = std::min(lines.find('\n'), lines.size() - 1) + 1;
            whole = lines.substr(0, piece.lines);
            if ((end + whole.size()) % kLinePage == kLinePage - 1) // no room for a comment behind it
                whole += "#\n";
            bytes = whole;
        } else {
            std::memcpy(page.data(), lines.data(), piece.lines);
            char* const rest = page.data() + piece.lines;
            if (piece.filling > 0) {
                std::fill_n(rest, piece.filling, ' ');
                rest[0] = '#';
                rest[piece.filling - 1] = '\n';
            }
            bytes = {page.data(), piece.lines + piece.filling};
        }
        if (const int error = file.write_at(end, bytes.data(), bytes.size()); error != 0) {
            lines.remove_prefix(std::min(piece.lines, keep_whole(file, end, bytes)));
            return error;
        }
        end += bytes.size();
        lines.remove_prefix(piece.lines);
    }
    return 0;
}

} // namespace specklescope
