// The archives that ImageJ's ROI Manager writes: an entry NAME.roi for each region.
#include "analysis/regions_file.hpp"

#include "base/error.hpp"

#include <zip.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>

namespace specklescope {

namespace {

struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Entry = std::unique_ptr<zip_file_t, Discard>;

/// Of corners and a name no region needs more.
constexpr zip_uint64_t kMostBytes = std::uint64_t{2} << 20;
/// Of all regions together, unpacked.
constexpr zip_uint64_t kMostTogether = kMaxRegionsFile;

Archive opened(std::span<const std::byte> bytes, const std::string& name) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    Archive archive(source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr);
    if (!archive) {
        const std::string why = zip_error_strerror(&error);
        if (source)
            zip_source_free(source);
        zip_error_fini(&error);
        throw UsageError(name + " is no archive that can be read (" + why + "); name one that ImageJ wrote.");
    }
    zip_error_fini(&error);
    return archive;
}

std::vector<std::byte> entry_bytes(zip_t* archive, zip_uint64_t index, const std::string& called) {
    zip_stat_t about;
    zip_stat_init(&about);
    if (zip_stat_index(archive, index, 0, &about) != 0 || (about.valid & ZIP_STAT_SIZE) == 0)
        throw UsageError(called + " cannot be read: " + zip_strerror(archive) + ".");
    if (about.size > kMostBytes)
        throw UsageError(called + " claims " + std::to_string(about.size) +
                         " bytes; allowed for a region: up to " + std::to_string(kMostBytes) + ".");
    if ((about.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && about.encryption_method != ZIP_EM_NONE)
        throw UsageError(called + " is encrypted; store the regions without a password.");
    std::vector<std::byte> bytes(about.size);
    const Entry file(zip_fopen_index(archive, index, 0));
    if (!file || zip_fread(file.get(), bytes.data(), bytes.size()) != static_cast<zip_int64_t>(bytes.size()))
        throw UsageError(called + " cannot be unpacked; store the regions again.");
    return bytes;
}

/// Of any case; what macOS puts beside files is none.
bool is_region(std::string file) {
    if (file.starts_with("__MACOSX/"))
        return false;
    std::transform(file.begin(), file.end(), file.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return file.ends_with(".roi");
}

/// "name", else "name-1", "name-2", …
std::string free_name(const std::string& name, const std::set<std::string>& taken) {
    std::string free = name;
    for (int number = 1; taken.contains(free); ++number)
        free = name + "-" + std::to_string(number);
    return free;
}

} // namespace

std::vector<Region> read_imagej_zip(std::span<const std::byte> bytes, const std::string& name) {
    const Archive archive = opened(bytes, name);
    std::vector<Region> regions;
    std::set<std::string> taken;
    zip_uint64_t together = 0;
    const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
    for (zip_int64_t i = 0; i < entries; ++i) {
        const auto index = static_cast<zip_uint64_t>(i);
        const char* const entry = zip_get_name(archive.get(), index, ZIP_FL_ENC_GUESS);
        const std::string file = entry ? entry : "";
        if (!is_region(file))
            continue;
        if (regions.size() == kMaxRegions)
            throw UsageError(name + " holds more than " + std::to_string(kMaxRegions) +
                             " regions; take some of them out.");
        const std::string called = name + ", entry " + file;
        const std::string stem = file.substr(file.rfind('/') + 1, std::string::npos);
        const std::vector<std::byte> roi = entry_bytes(archive.get(), index, called);
        together += roi.size();
        if (together > kMostTogether)
            throw UsageError(name + " unpacks to more than " + std::to_string(kMostTogether >> 20) +
                             " MiB; no set of regions does.");
        Region region = read_imagej_roi(roi, called, stem.substr(0, stem.size() - 4));
        region.name = free_name(region.name, taken);
        taken.insert(region.name);
        regions.push_back(std::move(region));
    }
    if (regions.empty())
        throw UsageError(name + " holds no region: no entry ends in .roi.");
    check_regions(regions);
    return regions;
}

} // namespace specklescope
