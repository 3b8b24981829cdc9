// The outputs of a run: files, streams and addresses that other programs read. A row of the table in
// outputs.cpp declares each of them once; command line, settings files, help, requests, the check of file
// names and the recorders walk the table.
#pragma once

#include "recording/recorder.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace specklescope {

class Pipeline;
class OutletEnd;
struct BenchSettings;
struct MeanOfRun;
struct OutputKind;
struct Settings;

/// One output of a run.
struct Output {
    const OutputKind* kind;
    std::string target; ///< a file, a stream or an address
    std::string of{};   ///< named output of the chain that it gets; "": the last image
    std::string text() const { return of.empty() ? target : of + "=" + target; } ///< as given by the user
};

/// Arguments for making the sink of an output.
struct OutputContext {
    const Settings& settings;
    /// View of recordings of the screen; null: the view of the settings.
    std::shared_ptr<const LiveLook> look = nullptr;
    /// Raw frames that a recording of raw frames begins with; null: none.
    std::shared_ptr<PreTrigger> before = nullptr;
    /// Started during the run: no table is replaced, and a pipe must already have a reader.
    bool later = false;
    /// Shared by the files of one mean, by Output::of.
    using Means = std::map<std::string, std::shared_ptr<MeanOfRun>>;
    std::shared_ptr<Means> means = std::make_shared<Means>();
};

struct OutputKind {
    std::string name; ///< key of a settings file; with dashes the name of the option
    const char* argument = "FILE";
    const char* doc = "";
    /// Keys of program_table() about this output only. Help lists their options after it.
    std::vector<const char*> options{};
    /// Action that an untrusted settings file may not cause, for the error: "writes the file".
    const char* does = "writes the file";
    bool list = false;             ///< may be given several times
    bool named = false;            ///< may be given as NAME=FILE: Output::of; once for each image
    bool in_program = false;       ///< its key is in [program] of a settings file
    bool file = true;              ///< the target is a file or a stream, not an address
    const char* part_of = nullptr; ///< the option is only another way to give this output
    enum class Needs : std::uint8_t { nothing, regions, lines };
    Needs needs = Needs::nothing;
    std::size_t most_lines = static_cast<std::size_t>(-1); ///< largest number of line regions
    std::optional<RecordWhat> frames{};                    ///< recorded frames; nothing: not a recorder
    const char* request = "";                              ///< requests name it so; "": they cannot begin it
    const char* ending = ""; ///< the only ending that requests may use; "": several
    /// Throws UsageError or RunError where the target cannot be this output. Called for addresses when the
    /// settings are read, for files before a run. Null: making it checks it.
    void (*check)(const std::string& target) = nullptr;
    /// Every file that is written for the target; null: only the target.
    std::vector<std::string> (*files)(const std::string& target, const Settings&) = nullptr;
    /// Null: it is not a sink of one pipeline. Throws UsageError or RunError.
    std::shared_ptr<Sink> (*make)(const Output&, const OutputContext&) = nullptr;
    /// Opens an end for the displayed image; null: the output does not show it. Throws likewise.
    std::unique_ptr<OutletEnd> (*show)(const std::string& target, const Settings&) = nullptr;

    std::string option() const; ///< "record-raw"
    std::string what() const;   ///< {what} in names of files: "raw"
};
/// Kinds in the order of the help.
const std::vector<OutputKind>& output_kinds();
/// Finds a kind by name; throws std::out_of_range for an unknown name.
const OutputKind& output_kind(std::string_view name);
const OutputKind& output_kind(RecordWhat what);

/// "contrast=FILE" or "FILE" for a kind that may be named. Throws UsageError for a kind that may not, and for
/// a name that no stage gives.
Output parse_output(const OutputKind& kind, std::string text);
/// Quantity of a named output of the chain; "": of the last image. Throws UsageError if the chain does not
/// give it.
Quantity quantity_of_output(const std::string& name, const Chain& chain);
/// Makes the sink. Throws UsageError, also where the chain does not give the named output, or RunError.
std::shared_ptr<Sink> make_sink(const Output& output, const OutputContext& context);

/// Replaces all outputs of this kind. A kind that is not a list has one target, or one for each image if it
/// is named: the last one counts, and two for an image are a UsageError. "" is no output.
void set_output(Settings& settings, const OutputKind& kind, std::vector<std::string> targets);
/// Target of an output that is not a list; "": none.
std::string output_of(const Settings& settings, std::string_view name);
std::vector<std::string> outputs_of(const Settings& settings, const OutputKind& kind);

/// An output that is written while a pipeline runs.
struct Recording {
    const OutputKind* kind = nullptr;
    std::shared_ptr<Sink> sink;
    std::string path; ///< as requested; the file may get a number
    std::string of{}; ///< Output::of
    SteadyClock::time_point since = SteadyClock::now();
};
/// Adds the sinks of all outputs to a started pipeline; pause it before start() and resume it after this, and
/// no frame of a file is missed. All or none: removes those already added before it throws.
std::vector<Recording> add_outputs(Pipeline& pipeline, OutputContext context);

/// True if the target is a stream: -, a FIFO, …
bool is_stream(const std::string& target);
/// Call before anything is printed: a recording to standard output keeps other text from it. Throws
/// UsageError where two outputs are one stream, or a stream is a terminal.
void prepare_streams(const Settings& settings);
/// Checks the files before a run. Throws UsageError or RunError.
void check_output_files(const Settings& settings);

/// Call before anything is opened. Throws UsageError if these runs would write the same file twice, or write
/// a file that they read. Links and folders are resolved.
void check_outputs(const std::vector<Settings>& runs);
/// The same for the files that `bench` writes and reads.
void check_outputs(const BenchSettings& bench);

} // namespace specklescope
