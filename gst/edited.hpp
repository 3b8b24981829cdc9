// Chain and view of the element: edited on any thread, used by the streaming thread.
#pragma once

#include "gst/library.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace specklescope::element {

/// GPU of the chain, in CUDA's order; −1: it runs on the host.
int gpu_of(specklescope_chain* chain);

/// Callbacks of EditedChain::settle().
struct Judge {
    /// Why results of that shape cannot be sent, as a sentence; empty: they can.
    std::function<std::string(const specklescope_image& made, bool in_place)> objection;
    std::function<void(const std::string& sentence)> refused;
};

/// Two chains: an edit checks and changes the draft at once, on the caller's thread; settle() copies the
/// draft to the chain that runs. A refused copy changes nothing, and the draft returns to the chain that
/// runs.
class EditedChain {
public:
    EditedChain();

    // Any thread. A refused edit throws Refusal and changes nothing.
    void replace(const std::string& text);
    void set(std::size_t place, const std::string& name, const std::string& value);
    /// Sets a value of the only stage of that name.
    void set(const std::string& stage, const std::string& name, const std::string& value);
    /// Empty unless the chain has exactly one such stage.
    std::optional<std::string> get(const std::string& stage, const std::string& name) const;
    std::string text() const;
    /// True if width and height of a frame do not change; while it runs, without pending edits.
    bool in_place() const;
    /// Cancels long preparations with SPECKLESCOPE_CANCELLED.
    void cancel() { cancelled_ = true; }

    // The streaming thread.
    /// `options` and `regions` as in specklescope_settings. Throws Refusal.
    void start(const std::string& options, const std::string& regions);
    void stop();
    /// Shape of the results of such frames, without pending edits. Throws Refusal.
    specklescope_image output(const specklescope_image& input);
    /// Applies pending edits, all or none, and returns the shape of the results. Edits that do not fit the
    /// frames, or to which the judge objects, are reported to the judge. Throws Refusal if the chain before
    /// them does not fit the frames either.
    specklescope_image settle(const specklescope_image& input, const Judge& judge);
    specklescope_result process(const specklescope_image& input, const specklescope_facts& facts,
                                const specklescope_image& output);
    specklescope_region region(std::size_t index);
    int gpu() const { return gpu_of(run_.get()); }
    /// Handle for calls from any thread; null while no chain runs. The library refuses it after the end.
    specklescope_chain* key() const { return run_.get(); }
    /// Memory for the image on the chain's GPU; sets its address.
    MemoryHandle memory(specklescope_image& image);

private:
    static int agrees(void* self, const specklescope_image* output, std::int32_t in_place);
    void edit(specklescope_status status);

    mutable std::mutex lock_;
    // Under the lock.
    ChainHandle draft_; ///< on the host; processes no frame
    std::atomic<std::uint64_t> edits_{0};
    bool running_ = false, runs_in_place_ = false;

    std::atomic<bool> cancelled_{false};
    // Used by the streaming thread.
    ChainHandle run_;
    std::uint64_t settled_ = 0; ///< edits that were applied or refused
    bool prepared_ = false;     ///< frames fitted the chain
    const Judge* judge_ = nullptr;
    std::string objection_;
};

class EditedView {
public:
    // Any thread.
    /// An end of the range fixes it, as --view does.
    void set(const std::string& name, const std::string& value);
    std::optional<std::string> get(const std::string& name) const;

    // The streaming thread.
    /// Applies every value. Throws Refusal each time if they do not fit each other.
    void start();
    /// Applies pending values; false if there are none. Throws Refusal once for each change if they do not
    /// fit each other; the view then stays as it was.
    bool settle();
    /// The range is computed from each result.
    bool automatic() const { return automatic_; }
    specklescope_view* colors() const { return colors_.get(); }
    /// The same view in shades of grey.
    specklescope_view* grey() const { return grey_.get(); }

private:
    std::string text(bool grey) const;
    bool wants_automatic() const;

    mutable std::mutex lock_;
    std::map<std::string, std::string> values_; ///< values that were set
    bool changed_ = true;
    ViewHandle colors_, grey_;
    bool automatic_ = true;
};

} // namespace specklescope::element
