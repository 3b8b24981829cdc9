// A chain that is edited from any thread and run by one. An edit that is wrong in itself is refused where it
// is made; one that does not fit the frames when it is to take effect, and leaves the chain as it was.
#pragma once

#include "gst/library.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace specklescope::element {

/// In CUDA's order; −1: it runs on the host.
int gpu_of(specklescope_chain* chain);

/// What becomes of edits when they are taken in.
struct Judge {
    /// In a sentence why such results cannot go out; empty: they can.
    std::function<std::string(const specklescope_image& made, bool in_place)> objection;
    std::function<void(const std::string& sentence)> refused;
};

class EditedChain {
public:
    EditedChain();

    // Any thread. What is refused throws Refusal and changes nothing.
    void replace(const std::string& text);
    void set(std::size_t place, const std::string& name, const std::string& value);
    /// Of the only stage of that name.
    void set(const std::string& stage, const std::string& name, const std::string& value);
    /// Empty unless the chain has exactly one such stage.
    std::optional<std::string> get(const std::string& stage, const std::string& name) const;
    std::string text() const;
    /// Width and height of a frame stay as they are: by the chain that runs, without the edits that wait.
    bool in_place() const;
    /// Ends what takes long while a chain is prepared, with SPECKLESCOPE_CANCELLED.
    void cancel() { cancelled_ = true; }

    // The thread that runs it.
    /// `options` and `regions` as of specklescope_settings. Throws Refusal.
    void start(const std::string& options, const std::string& regions);
    void stop();
    /// What is made of such frames; edits that wait go on waiting. Throws Refusal where they do not fit.
    specklescope_image output(const specklescope_image& input);
    /// Takes in the edits that wait, all together, and tells what is made of such frames. Edits that do not
    /// fit them, or whose results cannot go out, are told to the judge, and the chain goes on as it was; so
    /// are those that were meanwhile made of what is refused. Throws Refusal where it does not fit either.
    specklescope_image settle(const specklescope_image& input, const Judge& judge);
    specklescope_result process(const specklescope_image& input, const specklescope_facts& facts,
                                const specklescope_image& output);
    specklescope_region region(std::size_t index);
    /// That it runs on; −1: on the host.
    int gpu() { return gpu_of(run_.get()); }
    /// For calls that any thread may make; null where none runs. A key: of one that has ended it is refused.
    specklescope_chain* key() const { return run_.get(); }
    /// Room for that image on its GPU; tells where.
    MemoryHandle memory(specklescope_image& image);

private:
    struct Edit {
        std::size_t place = 0;
        std::string name; ///< empty: `value` is a whole chain
        std::string value;
        bool free = false; ///< it takes effect without preparing a stage anew
    };
    struct Foreseen {
        specklescope_image made;
        bool in_place;
    };
    static void apply(specklescope_chain* chain, const Edit& edit);
    static std::vector<Edit> actions_of(specklescope_chain* chain);
    static void copy_actions(specklescope_chain* from, specklescope_chain* to);
    bool is_free(const Edit& edit) const;
    void edit(Edit edit);
    /// They point into `options`.
    specklescope_settings settings_with(const std::string& options);
    std::optional<Foreseen> foresee(const std::string& text, const specklescope_image& input);
    std::string wrong_with(const std::vector<Edit>& edits, const std::string& text,
                           const specklescope_image& input, const Judge& judge, specklescope_image& made);
    std::size_t go_back();

    mutable std::mutex lock_;
    ChainHandle wanted_; ///< only edited: it says what is wrong, and never runs
    std::vector<Edit> waiting_;
    bool running_ = false, runs_in_place_ = false;
    std::atomic<bool> cancelled_{false};
    ChainHandle run_;
    std::optional<specklescope_image> prepared_; ///< frames that it was last prepared for
};

} // namespace specklescope::element
