// What each request does. Internal to config/control/.
#pragma once

#include "config/control/requests.hpp"

#include <nlohmann/json.hpp>

namespace specklescope::control {

using Json = nlohmann::json;
using Out = nlohmann::ordered_json;
using Answer = std::optional<ControlReply>;

/// {"ok":true} and what is to be told.
ControlReply told(const Out& more = Out::object());
Out json_of(const ParamValue& value);
Out json_of(const Params& params); ///< of what can be set
Out declarations(const ParamTable& table);
Out json_of(const Doors& doors);
/// Its place; `wanted` is one, or a name. Throws UsageError.
std::size_t stage_of(const Chain& chain, const Json& wanted);
/// As on the command line.
std::string text_of(const Json& value);
std::vector<std::string> record_names(); ///< of what requests can record
/// Where clients may read and write. Throws UsageError where they may not.
const std::string& folder_for_requests(const Settings& settings);
/// The path of a file that a client names. Throws UsageError.
std::string path_in_folder(const Settings& settings, const std::string& name);

// what there is
Answer list(ControlHost&, const Json&, ControlProgress&);
Answer get(ControlHost&, const Json&, ControlProgress&);
Answer stats(ControlHost&, const Json&, ControlProgress&);
Answer messages(ControlHost&, const Json&, ControlProgress&);
Answer frame(ControlHost&, const Json&, ControlProgress&);
Answer open_source(ControlHost&, const Json&, ControlProgress&);
// edits
Answer set(ControlHost&, const Json&, ControlProgress&);
Answer set_values(ControlHost&, const Json&, ControlProgress&);
Answer set_source(ControlHost&, const Json&, ControlProgress&);
Answer set_view(ControlHost&, const Json&, ControlProgress&);
Answer set_chain(ControlHost&, const Json&, ControlProgress&);
Answer bypass(ControlHost&, const Json&, ControlProgress&);
Answer scale(ControlHost&, const Json&, ControlProgress&);
// the film
Answer pause(ControlHost&, const Json&, ControlProgress&);
Answer play(ControlHost&, const Json&, ControlProgress&);
Answer step(ControlHost&, const Json&, ControlProgress&);
Answer seek(ControlHost&, const Json&, ControlProgress&);
// what is kept
Answer record(ControlHost&, const Json&, ControlProgress&);
Answer stop_recording(ControlHost&, const Json&, ControlProgress&);
Answer snapshot(ControlHost&, const Json&, ControlProgress&);
Answer mark(ControlHost&, const Json&, ControlProgress&);
Answer events(ControlHost&, const Json&, ControlProgress&);
Answer relabel(ControlHost&, const Json&, ControlProgress&);
Answer unmark(ControlHost&, const Json&, ControlProgress&);
Answer presets(ControlHost&, const Json&, ControlProgress&);
Answer load_preset(ControlHost&, const Json&, ControlProgress&);
Answer save_preset(ControlHost&, const Json&, ControlProgress&);
// regions
Answer regions(ControlHost&, const Json&, ControlProgress&);
Answer set_regions(ControlHost&, const Json&, ControlProgress&);
Answer baseline(ControlHost&, const Json&, ControlProgress&);
// the program
Answer act(ControlHost&, const Json&, ControlProgress&);
Answer quit(ControlHost&, const Json&, ControlProgress&);

} // namespace specklescope::control
