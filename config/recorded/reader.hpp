// Reads the description of a recording into settings. All of it is data.
#pragma once

#include "config/recorded/descriptions.hpp"
#include "config/settings.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace specklescope {

/// Of a text from a file no more than a sentence can hold.
std::string shortened(const std::string& text, std::size_t most);

/// Every member throws UsageError for what is damaged, of another version or not allowed: the settings may
/// then be half-changed, and are to be a copy.
class RecordedReader {
public:
    RecordedReader(const std::string& path, Settings& settings)
        : path_(path), by_("'" + path + "'"), settings_(settings) {}

    /// False if it is no recording of this program.
    bool begin(const Descriptions& texts);
    /// For another run of the same kind, whatever its source.
    void repeat(const Descriptions& texts);
    /// For looking at the recording itself. False where it says nothing that could be taken.
    bool show();
    /// "results of speckle:radius=3 (speckle flow index in 1/s)".
    std::string what_it_holds() const;
    /// That made the results; null where it is not known. Refuses results of several chains.
    std::shared_ptr<const Chain> chain_of_results(const Descriptions& texts) const;
    bool of_results() const { return content_ == "processed" || content_ == "screen"; }
    /// Those, or the frames of a source that played results back.
    bool holds_results() const;

private:
    using Json = nlohmann::json;
    [[noreturn]] void fail(const std::string& sentence) const;
    [[noreturn]] void damaged(const std::string& what) const;
    /// Sentences about a value name the file it is from.
    template <class F> void of_file(F&& act) const {
        constexpr std::size_t kMost = 2000;
        try {
            act();
        } catch (const UsageError& error) {
            fail(shortened(error.what(), kMost));
        }
    }
    bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
    /// The first object of a text, whatever follows it.
    Json parsed(const std::string& from) const;
    std::string quantity() const;
    std::string text(const char* key) const;
    double number(const char* key) const;
    void check_repeatable() const;
    /// Its pixels are colours, not numbers.
    bool shows_colours() const;
    Chain read_chain();
    /// An older version did not know them.
    void note_missing(const ChainStage& stage);
    /// What was taken of the picture at the press of a button is in no description.
    void note_captures(const ChainStage& stage);
    void refuse_files(const ChainStage& stage) const;
    /// A recording says every value: one that is as by default was chosen by nobody, but for an exposure of
    /// which it says so.
    void only_chosen(ChainStage& stage) const;
    /// What a camera reported then stands in for a source that reports nothing.
    void read_exposure(Chain& chain);
    void read_channel();
    void read_range(const char* key, const char* low, const char* high, bool automatic);
    void read_view();
    /// For another source, whose raw pixels are then as large; the recording itself says it as a source.
    void read_scale();
    void read_regions();
    std::string count_of_regions() const;
    void remark_shown();
    void remark();
    bool changed_later(const std::string& last_frame) const;

    const std::string& path_;
    std::string by_; ///< the file, and its version where that is another
    Settings& settings_;
    Json json_;
    std::string content_;
};

} // namespace specklescope
