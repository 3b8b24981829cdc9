// Arrays in NumPy's archives (.npz), stored or compressed, by libzip.
#include "base/error.hpp"
#include "files/film_array.hpp"
#include "files/npy_stream.hpp"

#include <zip.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace specklescope {

namespace {

struct CloseZip {
    void operator()(zip_t* archive) const { zip_discard(archive); }
    void operator()(zip_file_t* member) const { (void)zip_fclose(member); }
};
using ZipArchive = std::unique_ptr<zip_t, CloseZip>;

struct ZipMember {
    std::string name;
    std::uint64_t index = 0, size = 0;
    bool stored = false;
};

ZipArchive open_zip(const std::string& path) {
    (void)open_input(path); // reports what cannot be opened
    int error = 0;
    ZipArchive archive(zip_open(path.c_str(), ZIP_RDONLY, &error));
    if (!archive)
        throw RunError("'" + path + "' is not a readable NPZ file: it is damaged or cut short.");
    return archive;
}

/// A member as a stream of the C library. Going back in a compressed member starts it again.
class ZipStream {
public:
    static InputFile open(const std::string& path, const ZipMember& member) {
        auto stream = std::make_unique<ZipStream>(open_zip(path), member);
        if (!stream->start())
            throw RunError("'" + path + "' is damaged: its member " + member.name + " cannot be opened.");
        const cookie_io_functions_t calls = {.read = read, .write = nullptr, .seek = seek, .close = close};
        InputFile file(::fopencookie(stream.get(), "rb", calls));
        if (!file)
            throw RunError("'" + path + "' cannot be opened: out of memory.");
        (void)stream.release(); // closed with the file
        return file;
    }
    ZipStream(ZipArchive archive, ZipMember member)
        : archive_(std::move(archive)), member_(std::move(member)) {}

private:
    bool start() {
        at_ = 0;
        open_.reset(zip_fopen_index(archive_.get(), member_.index, 0));
        return open_ != nullptr;
    }
    ssize_t take(char* to, std::size_t most) {
        const zip_int64_t got = open_ ? zip_fread(open_.get(), to, most) : -1;
        if (got > 0)
            at_ += static_cast<std::uint64_t>(got);
        return static_cast<ssize_t>(got);
    }
    bool go_to(std::uint64_t goal) {
        if (member_.stored && open_ &&
            zip_fseek(open_.get(), static_cast<zip_int64_t>(goal), SEEK_SET) == 0) {
            at_ = goal;
            return true;
        }
        std::array<char, 1 << 16> passed{};
        if (goal < at_ && !start())
            return false;
        while (at_ < goal)
            if (take(passed.data(), std::min<std::uint64_t>(passed.size(), goal - at_)) <= 0)
                return false;
        return true;
    }

    static ssize_t read(void* self, char* to, std::size_t most) {
        return static_cast<ZipStream*>(self)->take(to, most);
    }
    static int seek(void* self, off64_t* offset, int whence) {
        auto& stream = *static_cast<ZipStream*>(self);
        const off64_t base = whence == SEEK_SET   ? 0
                             : whence == SEEK_CUR ? static_cast<off64_t>(stream.at_)
                                                  : static_cast<off64_t>(stream.member_.size);
        const off64_t goal = base + *offset;
        if (goal < 0 || !stream.go_to(static_cast<std::uint64_t>(goal)))
            return -1;
        *offset = goal;
        return 0;
    }
    static int close(void* self) {
        delete static_cast<ZipStream*>(self); // NOLINT(cppcoreguidelines-owning-memory): released in open()
        return 0;
    }

    ZipArchive archive_;
    ZipMember member_;
    std::unique_ptr<zip_file_t, CloseZip> open_; ///< destroyed before its archive
    std::uint64_t at_ = 0;
};

/// Members named NAME.npy, as "NAME".
std::vector<ZipMember> zip_members(zip_t* archive) {
    constexpr std::string_view kEnding = ".npy";
    std::vector<ZipMember> members;
    const zip_int64_t count = zip_get_num_entries(archive, 0);
    for (zip_int64_t i = 0; i < count; ++i) {
        zip_stat_t about;
        zip_stat_init(&about);
        constexpr auto kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD;
        if (zip_stat_index(archive, static_cast<zip_uint64_t>(i), 0, &about) != 0 ||
            (about.valid & kNeeded) != kNeeded)
            continue;
        const std::string_view name = about.name;
        if (name.ends_with(kEnding))
            members.push_back({std::string(name.substr(0, name.size() - kEnding.size())),
                               static_cast<std::uint64_t>(i), about.size, about.comp_method == ZIP_CM_STORE});
    }
    return members;
}

} // namespace

std::unique_ptr<ImageReader> open_npz(const std::string& path, const StackChoice& choice) {
    const std::vector<ZipMember> members = zip_members(open_zip(path).get());
    std::vector<NamedArray> arrays;
    arrays.reserve(members.size());
    for (const ZipMember& member : members)
        arrays.push_back({member.name});
    const ZipMember& chosen = members[choose_array(arrays, choice.path, path)];
    return open_npy(NpyStream{.path = path,
                              .size = chosen.size,
                              .compressed = !chosen.stored,
                              .file = ZipStream::open(path, chosen)},
                    choice);
}

} // namespace specklescope
