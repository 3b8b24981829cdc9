// Shared by the files of requests.
#pragma once

#include "session/requests.hpp"

#include <nlohmann/json.hpp>

namespace specklescope::requests {

using Json = nlohmann::json;
using Out = nlohmann::ordered_json;
using Answer = std::optional<ControlReply>;

/// The rows of each file.
std::vector<Request> reading_rows();
std::vector<Request> editing_rows();
std::vector<Request> keeping_rows();
std::vector<Request> preset_rows();

/// {"ok":true} with these members.
ControlReply answered(const Out& more = Out::object());
Out json_of(const ParamValue& value);
Out json_of(const Params& params); ///< Parameters that can be set.
Out declarations(const ParamTable& table);
Out json_of(const Doors& doors);
/// Argument "output" of requests about one result.
RequestArgument shown_image();
/// The newest result, or its further image named by "output". Nothing: not there yet, call again. Throws
/// UsageError if the chain does not give the image.
std::optional<Result> newest_image(const Call& call, bool pixels);
/// Place of a stage in the chain, by its place or name. Throws UsageError.
std::size_t stage_of(const Chain& chain, const Json& wanted);
/// Text of a value as on the command line.
std::string text_of(const Json& value);
/// Folder of --control-folder. Throws UsageError without one.
const std::string& folder_for_requests(const Settings& settings);
/// Path of a file named by a client. Throws UsageError.
std::string path_in_folder(const Settings& settings, const std::string& name);

} // namespace specklescope::requests
