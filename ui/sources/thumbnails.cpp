#include "ui/sources/thumbnails.hpp"

#include "base/error.hpp"
#include "base/long_work.hpp"
#include "base/memory_budget.hpp"
#include "config/numbers.hpp"
#include "ui/canvas/window.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace specklescope {

namespace {

constexpr std::size_t kUploads = 8; ///< textures per drawn frame

/// Type of the samples in the file, before they are decoded.
PixelType stored_type(const FirstLook& look) {
    if (look.stored_full_scale <= 0)
        return look.shape.type;
    return look.stored_full_scale <= 255 ? PixelType::u8 : PixelType::u16;
}

} // namespace

std::string text_of_look(const FirstLook& look) {
    return std::to_string(look.shape.width) + " × " + std::to_string(look.shape.height) + " " +
           std::string(to_string(stored_type(look))) + (look.shape.channels == 3 ? " colour" : "") +
           (look.frames > 0 ? ", " + count_text(look.frames) + (look.frames == 1 ? " frame" : " frames")
                            : "");
}

std::string details_of_look(const FirstLook& look) {
    const PixelType type = stored_type(look);
    const double full = look.stored_full_scale > 0 ? look.stored_full_scale : look.full_scale;
    const int bits = type == PixelType::f32 ? 32
                     : full >= 1            ? static_cast<int>(std::ceil(std::log2(full + 1)))
                                            : static_cast<int>(8 * pixel_bytes(type));
    std::string text = std::to_string(look.shape.width) + " × " + std::to_string(look.shape.height) +
                       " px, " + std::to_string(bits) + (type == PixelType::f32 ? " bit float" : " bit") +
                       (look.shape.channels == 3 ? " colour" : " grey");
    text += "\n" + (look.frames > 0 ? count_text(look.frames) + (look.frames == 1 ? " frame" : " frames")
                                    : std::string("Number of frames not stated"));
    if (look.frames != 1)
        text += look.rate > 0 ? ", " + number_text(look.rate) + " frames/s" : ", rate not stated";
    if (look.frames > 1 && look.rate > 0)
        text += ", " + clock_text(static_cast<double>(look.frames) / look.rate);
    text += std::isfinite(look.exposure_ms) ? "\nExposure " + number_text(look.exposure_ms) + " ms"
                                            : std::string("\nExposure not stated");
    return text;
}

Thumbnails::Thumbnails() : thread_([this] { run(); }) {}

Thumbnails::~Thumbnails() {
    {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
    }
    work_.notify_one();
    thread_.join();
}

const Thumbnail& Thumbnails::of(const SourceArgument& source) {
    Entry& entry = entries_[source.revealed()];
    entry.source = source;
    entry.seen = drawing_;
    return entry.shown;
}

void Thumbnails::update() {
    std::vector<Made> ready;
    std::string in_work;
    bool late = false;
    {
        const std::scoped_lock lock(mutex_);
        const auto end = ready_.begin() + static_cast<std::ptrdiff_t>(std::min(ready_.size(), kUploads));
        ready.assign(std::make_move_iterator(ready_.begin()), std::make_move_iterator(end));
        ready_.erase(ready_.begin(), end);
        in_work = in_work_;
        late = !in_work_.empty() && std::chrono::steady_clock::now() - since_ > kPatience;
        for (const Made& made : ready_)
            entries_[made.key].round = made.round; // no new request while the thumbnail waits for its texture
    }
    for (Made& made : ready)
        take(std::move(made));
    std::vector<Wanted> wanted;
    for (auto& [key, entry] : entries_) {
        if (entry.seen != drawing_ || entry.round == round_)
            continue;
        if (key == in_work) {
            if (late && !entry.texture) // the read waits in the disk's queue and cannot be cancelled
                entry.shown.word = "slow";
            continue;
        }
        wanted.push_back({entry.source, entry.round > 0 ? std::optional(entry.stamp) : std::nullopt, round_});
    }
    ++drawing_;
    forget_oldest();
    const bool any = !wanted.empty();
    {
        const std::scoped_lock lock(mutex_);
        std::erase_if(wanted, [&](const Wanted& each) { // started, or finished, in the meantime
            const std::string& key = each.source.revealed();
            return key == in_work_ || std::any_of(ready_.begin(), ready_.end(),
                                                  [&](const Made& made) { return made.key == key; });
        });
        wanted_ = std::move(wanted);
    }
    if (any)
        work_.notify_one();
}

void Thumbnails::take(Made made) {
    const auto found = entries_.find(made.key);
    if (found == entries_.end())
        return;
    Entry& entry = found->second;
    entry.round = made.round;
    if (made.same)
        return;
    ++made_;
    entry.stamp = made.stamp;
    entry.texture = {};
    entry.shown = {0, made.look.width, made.look.height, std::move(made.word), std::move(made.about)};
    if (made.look.rgb.empty())
        return;
    entry.texture = gl::Texture::make();
    entry.shown.texture = entry.texture.id();
    glBindTexture(GL_TEXTURE_2D, entry.texture.id());
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
        glTexParameteri(GL_TEXTURE_2D, filter, GL_LINEAR);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, made.look.width, made.look.height, 0, GL_RGB, GL_UNSIGNED_BYTE,
                 made.look.rgb.data());
}

/// Removes the thumbnails that have been invisible for longest.
void Thumbnails::forget_oldest() {
    if (entries_.size() <= kMost)
        return;
    std::vector<std::uint64_t> seen;
    seen.reserve(entries_.size());
    for (const auto& [key, entry] : entries_)
        seen.push_back(entry.seen);
    const auto border = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() - kMost * 3 / 4);
    std::nth_element(seen.begin(), border, seen.end());
    std::erase_if(entries_, [&](const auto& each) { return each.second.seen < *border; });
}

Thumbnails::Made Thumbnails::make(const Wanted& wanted) const {
    Made made{.key = wanted.source.revealed(), .round = wanted.round, .word = {}, .about = {}, .look = {}};
    made.stamp = file_stamp(wanted.source);
    if (wanted.stamp == made.stamp) {
        made.same = true;
        return made;
    }
    const auto until = std::chrono::steady_clock::now() + kPatience;
    bool late = false;
    const WatchWork watch([&](std::string_view, double) {
        const std::scoped_lock lock(mutex_);
        late = late || std::chrono::steady_clock::now() > until;
        return !late && !ends_;
    });
    const MemoryLimit limit(std::min(kMostBytes, available_memory() / 8));
    try {
        made.look = first_look(wanted.source, kSide, kPatience);
        made.about = text_of_look(made.look);
    } catch (const std::exception& error) {
        made.look = {};
        made.about = sentence_of(error);
        made.word = limit.refused()                                ? "large"
                    : late                                         ? "slow"
                    : std::chrono::steady_clock::now() > until     ? "slow"
                    : wanted.source.revealed().starts_with("raw:") ? "no header"
                                                                   : "unreadable";
        if (late)
            made.about = "Its first frame did not come within " + std::to_string(kPatience.count()) + " s.";
    }
    return made;
}

void Thumbnails::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        work_.wait(lock, [&] { return ends_ || !wanted_.empty(); });
        if (ends_)
            return;
        const Wanted wanted = std::move(wanted_.front());
        wanted_.erase(wanted_.begin());
        in_work_ = wanted.source.revealed();
        since_ = std::chrono::steady_clock::now();
        lock.unlock();
        Made made = make(wanted);
        lock.lock();
        in_work_.clear();
        ready_.push_back(std::move(made));
        wake_window();
    }
}

} // namespace specklescope
