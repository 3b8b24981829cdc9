#include "recording/lines/kymograph.hpp"

#include "base/error.hpp"
#include "base/system.hpp"
#include "files/whole_file.hpp"
#include "recording/lines/kymograph_file.hpp"
#include "recording/record_file.hpp"

#include <algorithm>
#include <cctype>
#include <climits>
#include <exception>
#include <filesystem>
#include <map>
#include <string_view>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

/// The name of a region as a part of that of a file: no separator, short enough.
std::string in_name(std::string name) {
    constexpr std::size_t kMost = 160; // of 255, less the rest of it
    std::replace(name.begin(), name.end(), '/', '_');
    return utf8_prefix(std::move(name), kMost);
}

constexpr std::string_view kTable = ".csv"; ///< of the table beside it

class Kymograph final : public LineSink {
public:
    using LineSink::LineSink;
    ~Kymograph() override { close(); }

protected:
    std::uint64_t begin(const StreamInfo& stream) override {
        check_kymograph(path());
        stream_ = stream;
        files_.clear();
        return 0;
    }

    void write(const std::vector<LineFrame>& frames, Written& written) override {
        for (auto& [name, open] : files_) {
            open.rows_of.clear();
            open.stored = 0;
        }
        std::size_t frame = 0;
        try {
            for (; frame < frames.size(); ++frame)
                for (const MeasuredLine& line : frames[frame].lines)
                    add(frames[frame], line, frame, written.bytes);
            for (auto& [name, open] : files_)
                flush(open, written.bytes);
        } catch (...) {
            written.frames = whole_frames(frame);
            throw;
        }
        written.frames = frames.size();
    }

    void finish(bool well) override {
        std::exception_ptr first;
        for (auto& [name, open] : files_)
            try {
                open.file->finish(well, dropped() - open.beyond);
            } catch (...) {
                first = first ? first : std::current_exception();
            }
        files_.clear();
        if (first)
            std::rethrow_exception(first);
    }

private:
    struct OpenFile {
        std::unique_ptr<KymographFile> file;
        std::vector<std::size_t> rows_of{}; ///< frames of this batch that it has rows of
        std::size_t stored = 0;             ///< rows of them that are in the file
        std::uint64_t beyond = 0;           ///< rows in the file of frames that count as dropped
    };

    void add(const LineFrame& frame, const MeasuredLine& line, std::size_t number, std::uint64_t& bytes) {
        const std::string& name = frame.placed->regions[line.region].name;
        auto found = files_.find(name);
        if (found != files_.end() && !found->second.file->continues(frame, line)) {
            flush(found->second, bytes);
            OpenFile ended = std::move(found->second);
            files_.erase(found);
            found = files_.end();
            ended.file->finish(true, dropped());
        }
        if (found == files_.end()) {
            if (files_.size() >= kMostKymographs)
                throw RunError("There are more than " + std::to_string(kMostKymographs) +
                               " lines, and a kymograph of each would be a file kept open; measure fewer.");
            auto file =
                std::make_unique<KymographFile>(kymograph_path(path(), name), frame, line, band(), stream_);
            found = files_.emplace(name, OpenFile{.file = std::move(file)}).first;
        }
        OpenFile& open = found->second;
        open.file->add(frame, line);
        open.rows_of.push_back(number);
        if (open.file->waiting() >= kMostWaiting) // less is lost where the disk is full
            flush(open, bytes);
    }

    void flush(OpenFile& open, std::uint64_t& bytes) {
        bytes += open.file->flush(dropped());
        open.stored = open.rows_of.size();
    }

    /// Of the batch's first `begun` frames, and one that was begun: so many of which every row is in its
    /// file.
    std::uint64_t whole_frames(std::size_t begun) {
        std::size_t whole = begun;
        for (const auto& [name, open] : files_)
            if (open.stored < open.rows_of.size())
                whole = std::min(whole, open.rows_of[open.stored]);
        for (auto& [name, open] : files_)
            open.beyond = static_cast<std::uint64_t>(std::count_if(
                open.rows_of.begin(), open.rows_of.begin() + static_cast<std::ptrdiff_t>(open.stored),
                [&](std::size_t frame) { return frame >= whole; }));
        return whole;
    }

    static constexpr std::size_t kMostWaiting = 16384; ///< bytes

    StreamInfo stream_;
    std::map<std::string, OpenFile> files_; ///< by the region's name
};

} // namespace

std::string kymograph_path(const std::string& path, const std::string& region) {
    const fs::path whole(path);
    const std::string end = "-" + in_name(region) + whole.extension().string();
    const std::size_t rest = std::min<std::size_t>(NAME_MAX, end.size() + kTable.size());
    return (whole.parent_path() / (utf8_prefix(whole.stem().string(), NAME_MAX - rest) + end)).string();
}

void check_kymograph(const std::string& path) {
    const std::string ending = lower_ending(path);
    if (ending != ".tiff" && ending != ".tif")
        throw UsageError("'" + path + "' cannot be a kymograph: the name must end in .tiff or .tif.");
    check_folder(path);
    check_length(path, kTable.size());
}

std::shared_ptr<Sink> make_kymograph(const std::string& path, int band) {
    return std::make_shared<Kymograph>(path, band, kymograph_path(path, "*"));
}

} // namespace specklescope
