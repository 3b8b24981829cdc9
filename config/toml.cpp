// The TOML face of the settings: the same names, ranges and errors as the command line, with file and line.
#include "config/toml.hpp"
#include "config/keys/keys_toml.hpp"
#include "config/presets/preset_file.hpp"
#include "config/settings.hpp"
#include "config/strange_source.hpp"
#include "config/text.hpp"
#include "files/input_file.hpp"
#include "pipeline/scale/pixel_size.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>

namespace specklescope {

namespace {

/// Keys outside of tables.
std::vector<std::string> top_keys() {
    std::vector<std::string> keys = {"command", "preset", "source", "regions", "interval"};
    for (const OutputKind& kind : output_kinds())
        if (!kind.in_program && !kind.part_of)
            keys.push_back(kind.name);
    keys.insert(keys.end(), {"program", "view", "keys", "stage"});
    return keys;
}

/// The output that this key names in [program], or outside of tables; null: none.
const OutputKind* find_output(std::string_view key, bool in_program) {
    for (const OutputKind& kind : output_kinds())
        if (kind.name == key && kind.in_program == in_program && !kind.part_of)
            return &kind;
    return nullptr;
}

/// Interval as a settings file has it.
struct StoredInterval {
    std::string name;
    double from_s = 0, to_s = 0;
    bool baseline = false;
};

const ParamTable& interval_table() {
    constexpr double kMost = 1e7; // s
    static const ParamTable table =
        Declare<StoredInterval>("interval")
            .text("name", &StoredInterval::name, {.doc = "Name"})
            .real("from_s", &StoredInterval::from_s,
                  {.unit = "s", .min = -kMost, .max = kMost, .doc = "Begin in the film"})
            .real("to_s", &StoredInterval::to_s,
                  {.unit = "s", .min = -kMost, .max = kMost, .doc = "End in the film"})
            .boolean("baseline", &StoredInterval::baseline, {.doc = "Its mean is the baseline F₀"})
            .table();
    return table;
}

class Reader {
public:
    Reader(std::string file, Settings& settings) : file_(std::move(file)), settings_(settings) {}

    void read(const toml::table& root) {
        // Apply the preset first, wherever its line is: the rest of the file changes it.
        if (const toml::node* node = root.get("preset"))
            read_preset(*node);
        for (auto&& [key, node] : root)
            read_top(key, node);
    }

private:
    [[noreturn]] void fail(const toml::source_region& where, const std::string& sentence) const {
        const auto line = where.begin.line;
        throw UsageError(file_ + (line > 0 ? ", line " + std::to_string(line) : "") + ": " + sentence);
    }

    static std::string type_name(const toml::node& node) {
        switch (node.type()) {
        case toml::node_type::table:
            return "a table";
        case toml::node_type::array:
            return "a list";
        case toml::node_type::string:
            return "text";
        case toml::node_type::integer:
            return "a whole number";
        case toml::node_type::floating_point:
            return "a number";
        case toml::node_type::boolean:
            return "true or false";
        default:
            return "a date or time";
        }
    }

    std::string text(std::string_view key, const toml::node& node) const {
        if (const auto* value = node.as_string())
            return value->get();
        fail(node.source(),
             std::string(key) + " is " + type_name(node) + "; allowed: text in quotation marks.");
    }

    std::vector<std::string> texts(std::string_view key, const toml::node& node) const {
        std::vector<std::string> list;
        if (const toml::array* array = node.as_array())
            for (const toml::node& item : *array)
                list.push_back(text(key, item));
        else
            list.push_back(text(key, node));
        return list;
    }

    const toml::table& table(std::string_view key, const toml::node& node) const {
        if (const toml::table* found = node.as_table())
            return *found;
        fail(node.source(),
             std::string(key) + " is " + type_name(node) + "; allowed: a table, [" + std::string(key) + "].");
    }

    void read_preset(const toml::node& node) {
        const std::string name = text("preset", node);
        try {
            load_preset(name, settings_);
        } catch (const UsageError& error) {
            fail(node.source(), error.what());
        }
    }

    void read_top(const toml::key& key, const toml::node& node) {
        const std::string_view name = key.str();
        if (name == "command")
            read_command(node);
        else if (name == "source")
            read_source(node);
        else if (const OutputKind* kind = find_output(name, false))
            read_output(*kind, node);
        else if (name == "regions")
            settings_.regions_path = text(name, node);
        else if (name == "program")
            read_program(table(name, node));
        else if (name == "view")
            read_params(table(name, node), settings_.view);
        else if (name == "keys")
            read_keys(table(name, node), settings_.keys, settings_.remarks,
                      [&](const toml::source_region& where, const std::string& what) { fail(where, what); });
        else if (name == "stage")
            read_stages(node);
        else if (name == "interval")
            read_intervals(node);
        else if (name != "preset")
            fail(key.source(),
                 "there is no key '" + one_line(name) + "'; allowed: " + join(top_keys()) + ".");
    }

    void read_program(const toml::table& fields) {
        std::vector<std::string_view> outputs;
        for (auto&& [key, node] : fields)
            if (const OutputKind* kind = find_output(key.str(), true)) {
                outputs.push_back(key.str());
                read_output(*kind, node);
            } else if (!program_table().find(key.str())) {
                std::vector<std::string> keys;
                for (const ParamDecl& decl : program_table().decls())
                    keys.push_back(decl.name);
                for (const OutputKind& one : output_kinds())
                    if (one.in_program)
                        keys.push_back(one.name);
                fail(key.source(), program_table().owner() + " has no key '" + one_line(key.str()) +
                                       "'; allowed: " + join(keys) + ".");
            }
        read_params(fields, settings_.program, outputs);
        const auto& program = settings_.program.as<ProgramSettings>();
        for (const auto& [key, does, value] :
             {std::tuple("control_folder", "lets requests write into", &program.control_folder),
              {"curve_key", "reads the secret key in", &program.curve_key},
              {"curve_clients", "lets in the clients of", &program.curve_clients}})
            if (const toml::node* node = fields.get(key))
                refuse_untrusted(key, does, *value, *node);
    }

    /// An untrusted file must not open ports or write files.
    void refuse_untrusted(std::string_view key, const std::string& does, const std::string& value,
                          const toml::node& node) const {
        if (!value.empty() && !settings_.trusted)
            fail(node.source(), std::string(key) + " " + does + " '" + SourceArgument(value).shown() +
                                    "'. If you trust it, add --trust; otherwise remove the line.");
    }

    void read_output(const OutputKind& kind, const toml::node& node) {
        std::vector<std::string> targets =
            kind.list || kind.named ? texts(kind.name, node) : std::vector{text(kind.name, node)};
        std::erase(targets, "");
        for (const std::string& target : targets)
            refuse_untrusted(kind.name, kind.does, target, node);
        set_output(settings_, kind, std::move(targets));
    }

    /// Refuses sources that run programs or expose environment variables.
    void read_source(const toml::node& node) {
        SourceArgument source = text("source", node);
        if (const std::string why = why_not_from_strangers(source); !settings_.trusted && !why.empty())
            fail(node.source(),
                 "source = '" + source.shown() + "' " + why +
                     ". If you trust it, add --trust; otherwise name the source on the command line.");
        settings_.source = std::move(source);
    }

    void read_command(const toml::node& node) {
        const std::string name = text("command", node);
        if (name != "view" && name != "run")
            fail(node.source(), "command = " + one_line(name) + " is not possible; allowed: view, run.");
        settings_.command = name == "view" ? Command::view : Command::run;
    }

    void read_stages(const toml::node& node) {
        const toml::array* array = node.as_array();
        if (!array || array->empty() || !array->is_homogeneous(toml::node_type::table))
            fail(node.source(), "stage must be a list of tables, each begun by [[stage]] with a name.");
        Chain chain;
        for (const toml::node& item : *array)
            read_stage(*item.as_table(), array->size(), chain);
        replace_chain(settings_, std::move(chain), file_);
    }

    void read_intervals(const toml::node& node) {
        const toml::array* array = node.as_array();
        if (!array || !array->is_homogeneous(toml::node_type::table) || array->size() > kMaxIntervals)
            fail(node.source(), "interval must be a list of at most " + std::to_string(kMaxIntervals) +
                                    " tables, each begun by [[interval]].");
        std::vector<Interval> intervals;
        for (const toml::node& item : *array) {
            Params params(interval_table());
            read_params(*item.as_table(), params);
            const auto& stored = params.as<StoredInterval>();
            const auto [from_s, to_s] = std::minmax(stored.from_s, stored.to_s);
            intervals.push_back({stored.name, std::llround(from_s * 1e9), std::llround(to_s * 1e9), false});
            if (stored.baseline)
                choose_baseline(intervals, intervals.size() - 1);
        }
        settings_.intervals = std::move(intervals);
    }

    void read_stage(const toml::table& fields, std::size_t count, Chain& chain) {
        const toml::node* name_node = fields.get("name");
        if (!name_node)
            fail(fields.source(), "a stage needs a name, for example name = \"speckle\".");
        const std::string name = text("name", *name_node);
        if (name == "none") {
            if (count > 1 || fields.size() > 1)
                fail(fields.source(), "stage none must be the only stage, and has no keys.");
            return;
        }
        if (chain.stages().size() >= kMaxStages)
            fail(fields.source(), "a chain holds at most " + std::to_string(kMaxStages) + " stages.");
        try {
            const StageType& type = find_stage(name);
            chain.add(ChainStage{&type, Params(*type.table)});
        } catch (const UsageError& error) {
            fail(name_node->source(), error.what());
        }
        if (const toml::node* bypass = fields.get(kBypass)) {
            if (!bypass->is_boolean())
                fail(bypass->source(),
                     "stage " + name + ": bypass is " + type_name(*bypass) + " here; allowed: true, false.");
            chain.stages().back().bypassed = bypass->as_boolean()->get();
        }
        read_params(fields, chain.stages().back().params, {"name", kBypass});
    }

    void read_params(const toml::table& fields, Params& params,
                     const std::vector<std::string_view>& skip = {}) {
        for (auto&& [key, node] : fields)
            if (std::find(skip.begin(), skip.end(), key.str()) == skip.end())
                read_param(key, node, params);
    }

    void read_param(const toml::key& key, const toml::node& node, Params& params) {
        const Params before = params;
        const std::string& owner = params.table().owner();
        try {
            const ParamDecl& decl = params.table().at(key.str());
            if (const auto* flag = node.as_boolean(); flag && decl.kind == ParamKind::boolean)
                params.set(decl.name, flag->get());
            else if (const auto* whole = node.as_integer(); whole && decl.kind != ParamKind::boolean &&
                                                            decl.kind != ParamKind::choice &&
                                                            !is_text(decl.kind))
                params.set(decl.name, whole->get());
            else if (const auto* real = node.as_floating_point(); real && decl.kind == ParamKind::real)
                params.set(decl.name, real->get());
            else if (const auto* words = node.as_string();
                     words && (decl.kind == ParamKind::choice || is_text(decl.kind)))
                params.set(decl.name, words->get());
            else
                fail(node.source(), owner + ": " + decl.name + " is " + type_name(node) + " here; " +
                                        allowed_text(decl) + ".");
            // A file from to_toml() contains every value: unchanged values were not chosen by the user.
            if (params.get(decl.name) == before.get(decl.name))
                params = before;
        } catch (const UsageError& error) {
            const std::string what = error.what();
            if (what.starts_with(file_))
                throw;
            fail(params.table().find(key.str()) ? node.source() : key.source(), what);
        }
    }

    std::string file_;
    Settings& settings_;
};

/// Throws RunError for bytes that TOML cannot hold.
std::string toml_text(std::string_view text) {
    if (!is_utf8(text))
        throw RunError(
            "'" + std::string(text) +
            "' is not UTF-8, which a settings file needs. Rename it, or give it on the command line.");
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            static constexpr std::string_view kHex = "0123456789abcdef";
            out += "\\u00";
            out += kHex[static_cast<unsigned char>(c) >> 4];
            out += kHex[static_cast<unsigned char>(c) & 15];
        } else {
            out += c;
        }
    }
    return out + '"';
}

std::string toml_text(const std::vector<std::string>& list) {
    std::string out;
    for (const std::string& item : list)
        out += (out.empty() ? "" : ", ") + toml_text(item);
    return "[" + out + "]";
}

std::string value_text(const ParamValue& value) {
    if (const auto* words = std::get_if<std::string>(&value))
        return toml_text(*words);
    std::string text = to_string(value);
    const bool real = std::holds_alternative<double>(value);
    return real && text.find_first_of(".en") == std::string::npos ? text + ".0"
                                                                  : text; // 10 would be an integer
}

/// `all`: includes values at their defaults.
std::string param_lines(const Params& params, bool all = true) {
    const Params initial(params.table());
    std::string out;
    for (const ParamDecl& decl : params.table().decls())
        if (decl.kind != ParamKind::action && (all || params.get(decl.name) != initial.get(decl.name)))
            out += decl.name + " = " + value_text(params.get(decl.name)) + "\n";
    return out;
}

std::string output_lines(const Settings& settings, bool in_program) {
    std::string out;
    for (const OutputKind& kind : output_kinds()) {
        if (kind.in_program != in_program || kind.part_of)
            continue;
        const std::vector<std::string> targets = outputs_of(settings, kind);
        out += kind.name + " = " +
               (kind.list || targets.size() > 1 ? toml_text(targets)
                                                : toml_text(targets.empty() ? "" : targets.back())) +
               "\n";
    }
    return out;
}

std::string interval_lines(const std::vector<Interval>& intervals) {
    std::string out;
    for (const Interval& interval : intervals) {
        Params params(interval_table());
        params.as<StoredInterval>() = {interval.name, static_cast<double>(interval.from_ns) * 1e-9,
                                       static_cast<double>(interval.to_ns) * 1e-9, interval.baseline};
        out += "\n[[interval]]\n" + param_lines(params);
    }
    return out;
}

const char* const kNoStage = "\n[[stage]]\nname = \"none\"\n";

/// The beginning of its table.
std::string stage_lines(const ChainStage& stage) {
    return "\n[[stage]]\nname = " + toml_text(stage.type->name) + "\n" +
           (stage.bypassed ? std::string(kBypass) + " = true\n" : "");
}

} // namespace

void replace_chain(Settings& settings, Chain chain, const std::string& by) {
    if (!settings.chain_from.empty())
        settings.remarks.push_back("The chain of " + settings.chain_from + " is replaced by that of " + by +
                                   ".");
    settings.chain = std::move(chain);
    settings.chain_from = by;
    settings.chain_default = false;
}

void read_toml(std::string_view text, const std::string& name, Settings& settings) {
    Settings changed = settings;
    try {
        Reader(name, changed).read(toml::parse(text, name));
    } catch (const toml::parse_error& error) {
        throw UsageError(name + ", line " + std::to_string(error.source().begin.line) + ": " +
                         one_line(error.description()) + ".");
    }
    settings = std::move(changed);
}

std::string config_text(const std::string& path) {
    std::string text = whole_text(path, kMaxSettingsFile, "settings file. Name a TOML file", Pipes::taken);
    if (text.empty())
        throw RunError("The settings file '" + path + "' is empty. Name a TOML file.");
    return text;
}

void load_config(const std::string& path, Settings& settings) {
    read_toml(config_text(path), path, settings);
}

std::string preset_toml(const Settings& settings, const std::string& doc) {
    std::string out = "# " + one_line(doc.empty() ? "Saved from the window." : doc) + "\n[view]\n";
    Params view = settings.view;
    auto& shown = view.as<ViewSettings>();
    shown.mapping = mapping_for(settings, settings.chain.quantity());
    for (const ParamDecl& decl : mapping_table().decls())
        out += decl.name + " = " + value_text(view.get(decl.name)) + "\n";
    if (settings.view.as<ViewSettings>().monitor)
        out += "monitor = true\n";
    for (const ChainStage& stage : settings.chain.stages())
        out += stage_lines(stage) + param_lines(stage.params, false);
    return settings.chain.stages().empty() ? out + kNoStage : out;
}

std::string to_toml(const Settings& settings, bool default_chain_too) {
    std::string out = "# Settings of Specklescope; specklescope --config FILE reads them.\n";
    if (settings.command != Command::list)
        out += std::string("command = ") + (settings.command == Command::view ? "\"view\"\n" : "\"run\"\n");
    out += "source = " + toml_text(settings.source.referring().revealed()) + "\n";
    out += "regions = " + toml_text(settings.regions_path) + "\n" + output_lines(settings, false);
    Params program = settings.program;
    if (program.as<ProgramSettings>().um_per_px == 0 && settings.um_per_source_px > 0) // as this chain has it
        program.set("um_per_px", settings.um_per_source_px * source_pixels_per_pixel(settings.chain));
    out += "\n[program]\n" + param_lines(program) + output_lines(settings, true);
    out += "\n[view]\n" + param_lines(settings.view);
    out += keys_toml(settings.keys) + interval_lines(settings.intervals);
    if (settings.chain_default && !default_chain_too)
        return out;
    for (const ChainStage& stage : settings.chain.stages())
        out += stage_lines(stage) + param_lines(stage.params);
    if (settings.chain.stages().empty())
        out += kNoStage;
    return out;
}

} // namespace specklescope
