#include "recording/lines/kymograph.hpp"

#include "base/error.hpp"
#include "recording/lines/kymograph_file.hpp"
#include "recording/record_file.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

namespace specklescope {

namespace {

namespace fs = std::filesystem;

/// The name of a region as a part of that of a file: no separator, short enough.
std::string in_name(std::string name) {
    constexpr std::size_t kMost = 160; // of 255, less the rest of it
    for (char& c : name)
        if (c == '/')
            c = '_';
    if (name.size() > kMost) {
        std::size_t end = kMost;
        while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) // within a code point
            --end;
        name.resize(end);
    }
    return name;
}

/// "out/flow-artery.tiff" of out/flow.tiff.
std::string path_of(const fs::path& path, const std::string& name) {
    return (path.parent_path() / (path.stem().string() + "-" + name + path.extension().string())).string();
}

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

    std::uint64_t write(const std::vector<LineFrame>& frames) override {
        std::uint64_t bytes = 0;
        for (const LineFrame& frame : frames)
            for (const MeasuredLine& line : frame.lines)
                bytes += add(frame, line);
        for (auto& [name, file] : files_)
            bytes += file->flush(dropped());
        return bytes;
    }

    void finish(bool well) override {
        for (auto& [name, file] : files_)
            file->finish(well, dropped());
        files_.clear();
    }

private:
    std::uint64_t add(const LineFrame& frame, const MeasuredLine& line) {
        const std::string& name = frame.placed->regions[line.region].name;
        std::unique_ptr<KymographFile>& file = files_[name];
        std::uint64_t bytes = 0;
        if (file && !file->continues(frame, line)) {
            bytes = file->flush(dropped());
            file->finish(true, dropped());
            file.reset();
        }
        if (!file) {
            if (files_.size() > kMostKymographs)
                throw RunError("There are more than " + std::to_string(kMostKymographs) +
                               " lines, and a kymograph of each would be a file kept open; measure fewer.");
            file =
                std::make_unique<KymographFile>(path_of(path(), in_name(name)), frame, line, band(), stream_);
        }
        file->add(frame, line);
        if (file->waiting() >= kMostWaiting) // less is lost where the disk is full
            bytes += file->flush(dropped());
        return bytes;
    }

    static constexpr std::size_t kMostWaiting = 16384; ///< bytes

    StreamInfo stream_;
    std::map<std::string, std::unique_ptr<KymographFile>> files_; ///< by the region's name
};

} // namespace

void check_kymograph(const std::string& path) {
    std::string ending = fs::path(path).extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (ending != ".tiff" && ending != ".tif")
        throw UsageError("'" + path + "' cannot be a kymograph: the name must end in .tiff or .tif.");
    check_folder(path);
}

std::shared_ptr<Sink> make_kymograph(const std::string& path, int band) {
    return std::make_shared<Kymograph>(path, band, path_of(path, "*"));
}

} // namespace specklescope
