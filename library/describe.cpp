// Stages, sources and their parameters, from the declarations.
#include "library/convert.hpp"

#include "pipeline/mapping.hpp"
#include "pipeline/stage.hpp"
#include "sources/registry.hpp"

#include <map>
#include <vector>

namespace specklescope::library {

namespace {

/// Texts referenced by the structs; created once, never destroyed.
struct ParameterTexts {
    std::string default_value, allowed;
    std::vector<const char*> choices;
};

std::int32_t kind_of(ParamKind kind) {
    switch (kind) {
    case ParamKind::boolean:
        return SPECKLESCOPE_BOOLEAN;
    case ParamKind::integer:
        return SPECKLESCOPE_INTEGER;
    case ParamKind::real:
        return SPECKLESCOPE_REAL;
    case ParamKind::choice:
        return SPECKLESCOPE_CHOICE;
    case ParamKind::text:
        return SPECKLESCOPE_TEXT;
    case ParamKind::path:
        return SPECKLESCOPE_PATH;
    case ParamKind::action:
        break;
    }
    return SPECKLESCOPE_ACTION;
}

ParameterTexts texts_of(const ParamTable& table, const ParamDecl& decl) {
    ParameterTexts texts;
    texts.default_value = to_string(decl.get(table.defaults()));
    texts.allowed = allowed_text(decl);
    if (decl.kind == ParamKind::choice) {
        for (const std::string& name : decl.choices)
            texts.choices.push_back(name.c_str());
        texts.choices.push_back(nullptr);
    }
    return texts;
}

using TextsOfAll = std::map<const ParamDecl*, ParameterTexts>;

const TextsOfAll& texts_of_all() {
    static const TextsOfAll* const all = [] {
        auto made = std::make_unique<TextsOfAll>();
        const auto add = [&](const ParamTable& table) {
            for (const ParamDecl& decl : table.decls())
                made->emplace(&decl, texts_of(table, decl));
        };
        for (const StageType& type : stage_types())
            add(*type.table);
        for (const SourceType& type : source_types())
            add(*type.table);
        add(mapping_table());
        return made.release();
    }();
    return *all;
}

void check_index(std::size_t index, std::size_t count, const std::string& what) {
    if (index >= count)
        throw UsageError("There is no " + what + " number " + std::to_string(index) + "; there are " +
                         std::to_string(count) + ", counted from 0.");
}

const SourceType& source_of_kind(std::string_view kind) {
    if (const SourceType* const type = source_type(kind))
        return *type;
    throw UsageError("There is no kind of source '" + std::string(kind) + "'; allowed: " + source_kinds() +
                     ".");
}

} // namespace

specklescope_parameter_info info_of_parameter(const ParamTable& table, std::size_t index) {
    check_index(index, table.decls().size(), "parameter of " + table.owner());
    const ParamDecl& decl = table.decls()[index];
    const ParameterTexts& texts = texts_of_all().at(&decl);
    specklescope_parameter_info found{};
    found.name = decl.name.c_str();
    found.doc = decl.doc.c_str();
    found.unit = decl.unit.c_str();
    found.default_value = texts.default_value.c_str();
    found.allowed = texts.allowed.c_str();
    found.choices = texts.choices.empty() ? nullptr : texts.choices.data();
    found.minimum = decl.min;
    found.maximum = decl.max;
    found.kind = kind_of(decl.kind);
    found.logarithmic = decl.logarithmic ? 1 : 0;
    found.rebuilds = decl.cost == Cost::rebuild ? 1 : 0;
    return found;
}

} // namespace specklescope::library

using namespace specklescope;
using namespace specklescope::library;

extern "C" {

specklescope_status specklescope_stage_count(size_t* count) {
    return guarded([&] {
        need(count, "The place for the count");
        *count = stage_types().size();
    });
}

specklescope_status specklescope_stage_describe(size_t index, specklescope_stage_info* info) {
    return guarded([&] {
        check_index(index, stage_types().size(), "stage");
        const StageType& type = stage_types()[index];
        specklescope_stage_info found{};
        found.name = type.name.data(); // literals are null-terminated
        found.doc = type.doc.data();
        found.parameters = type.table->decls().size();
        found.stateful = type.stateful ? 1 : 0;
        found.on_device = type.make_device ? 1 : 0;
        write_struct(info, found, "The stage's info");
    });
}

specklescope_status specklescope_parameter_describe(const char* stage, size_t index,
                                                    specklescope_parameter_info* info) {
    return guarded([&] {
        need(stage, "The stage's name");
        const specklescope_parameter_info found = info_of_parameter(*find_stage(stage).table, index);
        write_struct(info, found, "The parameter's info");
    });
}

specklescope_status specklescope_source_count(size_t* count) {
    return guarded([&] {
        need(count, "The place for the count");
        *count = source_types().size();
    });
}

specklescope_status specklescope_source_describe(size_t index, specklescope_source_kind* info) {
    return guarded([&] {
        check_index(index, source_types().size(), "kind of source");
        const SourceType& type = source_types()[index];
        specklescope_source_kind found{};
        found.name = type.kind.data(); // literals, as the names of stages
        found.syntax = type.syntax.data();
        found.doc = type.doc.data();
        found.options = type.table->decls().size();
        write_struct(info, found, "The source's info");
    });
}

specklescope_status specklescope_source_option_describe(const char* source, size_t index,
                                                        specklescope_parameter_info* info) {
    return guarded([&] {
        need(source, "The source's name");
        const specklescope_parameter_info found = info_of_parameter(*source_of_kind(source).table, index);
        write_struct(info, found, "The option's info");
    });
}

} // extern "C"
