#include "pipeline/param.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace specklescope {

namespace {

/// Shortest text that reads back as the same value; 100000 rather than 1e+05.
std::string number(double value) {
    const double size = std::abs(value);
    const bool plain = value == 0 || (size >= 1e-4 && size < 1e15);
    char text[32];
    const auto [end, error] = std::to_chars(text, text + sizeof text, value,
                                            plain ? std::chars_format::fixed : std::chars_format::general);
    return error == std::errc{} ? std::string(text, end) : std::to_string(value);
}

template <class Range> std::string joined(const Range& names) {
    std::string text;
    for (const auto& name : names)
        text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
}

[[noreturn]] void refuse(const std::string& owner, const ParamDecl& decl, const std::string& given) {
    throw UsageError(owner + ": " + decl.name + " = " + given + " is not possible; " + allowed_text(decl) +
                     ".");
}

} // namespace

std::string capitalised(std::string key) {
    std::replace(key.begin(), key.end(), '_', ' ');
    std::replace(key.begin(), key.end(), '-', ' ');
    if (!key.empty() && key[0] >= 'a' && key[0] <= 'z')
        key[0] = static_cast<char>(key[0] - 'a' + 'A');
    return key;
}

std::string choice_label(const ParamDecl& decl, std::string_view key) {
    const auto found = std::find(decl.choices.begin(), decl.choices.end(), key);
    return found == decl.choices.end() ? ""
                                       : decl.labels[static_cast<std::size_t>(found - decl.choices.begin())];
}

unsigned several_of(const ParamDecl& decl, const std::string& owner, std::string_view text) {
    unsigned several = 0;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view key = rest.substr(0, rest.find('+'));
        const auto found = std::find(decl.choices.begin(), decl.choices.end(), key);
        if (found == decl.choices.end())
            refuse(owner, decl, std::string(text));
        several |= 1U << static_cast<unsigned>(found - decl.choices.begin());
        rest.remove_prefix(std::min(rest.size(), key.size() + 1));
    }
    return several;
}

std::string several_text(const ParamDecl& decl, unsigned several) {
    std::string text;
    for (std::size_t i = 0; i < decl.choices.size(); ++i)
        if (several & (1U << i))
            text += (text.empty() ? "" : "+") + decl.choices[i];
    return text;
}

ChoiceNames choice_names(const std::vector<std::string>& keys, const std::vector<std::string>& labels) {
    ChoiceNames names;
    for (std::size_t i = 0; i < keys.size(); ++i)
        names.emplace_back(keys[i], i < labels.size() ? labels[i] : std::string());
    return names;
}

std::string to_string(const ParamValue& value) {
    if (const auto* flag = std::get_if<bool>(&value))
        return *flag ? "true" : "false";
    if (const auto* whole = std::get_if<std::int64_t>(&value))
        return std::to_string(*whole);
    if (const auto* real = std::get_if<double>(&value))
        return number(*real);
    return std::get<std::string>(value);
}

std::string allowed_text(const ParamDecl& decl) {
    const std::string unit = decl.unit.empty() ? "" : " " + decl.unit;
    const bool low = decl.min > -std::numeric_limits<double>::max();
    const bool high = decl.max < std::numeric_limits<double>::max();
    const std::string kind = decl.kind == ParamKind::integer ? "a whole number" : "a number";
    switch (decl.kind) {
    case ParamKind::boolean:
        return "allowed: true, false";
    case ParamKind::choice:
        return "allowed: " + joined(decl.choices);
    case ParamKind::text:
        return decl.choices.empty()
                   ? "allowed: any text"
                   : "allowed: " + joined(decl.choices) + ", several joined by '+', or nothing";
    case ParamKind::path:
        return "allowed: the path of a file";
    case ParamKind::action:
        return "allowed: a whole number; each new one acts once";
    case ParamKind::integer:
    case ParamKind::real:
        break;
    }
    if (decl.least > 0)
        return "allowed: 0 or a number, " + number(decl.least) + "…" + number(decl.max) + unit;
    if (low && high)
        return "allowed: " + kind + ", " + number(decl.min) + "…" + number(decl.max) + unit;
    if (low)
        return "allowed: " + kind + " from " + number(decl.min) + unit;
    if (high)
        return "allowed: " + kind + " up to " + number(decl.max) + unit;
    return "allowed: " + kind + (unit.empty() ? "" : " in" + unit);
}

const ParamDecl* ParamTable::find(std::string_view name) const {
    const auto it =
        std::find_if(decls_.begin(), decls_.end(), [&](const ParamDecl& d) { return d.name == name; });
    return it == decls_.end() ? nullptr : &*it;
}

const ParamDecl& ParamTable::at(std::string_view name) const {
    if (const ParamDecl* decl = find(name))
        return *decl;
    std::vector<std::string> names;
    names.reserve(decls_.size());
    for (const ParamDecl& decl : decls_)
        names.push_back(decl.name);
    throw UsageError(owner_ + " has no key '" + std::string(name) + "'; " +
                     (names.empty() ? "it takes none." : "allowed: " + joined(names) + "."));
}

ParamValue Params::get(std::string_view name) const { return table_->at(name).get(values_); }

void Params::put(const ParamDecl& decl, const ParamValue& value) {
    decl.put(values_, value);
    const auto index = static_cast<std::size_t>(&decl - table_->decls().data());
    if (given_.size() <= index)
        given_.resize(index + 1);
    given_[index] = true;
}

void Params::suggest(std::string_view name, const ParamValue& value) {
    const bool was = given(name);
    set(name, value);
    given_[static_cast<std::size_t>(&table_->at(name) - table_->decls().data())] = was;
}

bool Params::given(std::string_view name) const {
    const auto index = static_cast<std::size_t>(&table_->at(name) - table_->decls().data());
    return index < given_.size() && given_[index];
}

void Params::set(std::string_view name, const ParamValue& value) {
    const ParamDecl& decl = table_->at(name);
    const std::string given = to_string(value);
    switch (decl.kind) {
    case ParamKind::boolean:
        if (!std::holds_alternative<bool>(value))
            refuse(table_->owner(), decl, given);
        break;
    case ParamKind::action:
    case ParamKind::integer: {
        const auto* whole = std::get_if<std::int64_t>(&value);
        // Declared integers are stored as int.
        if (!whole || static_cast<double>(*whole) < decl.min || static_cast<double>(*whole) > decl.max ||
            *whole < std::numeric_limits<int>::min() || *whole > std::numeric_limits<int>::max())
            refuse(table_->owner(), decl, given);
        break;
    }
    case ParamKind::real: {
        const auto* whole = std::get_if<std::int64_t>(&value);
        const auto* exact = std::get_if<double>(&value);
        if (!whole && !exact)
            refuse(table_->owner(), decl, given);
        const double real = whole ? static_cast<double>(*whole) : *exact;
        if (!std::isfinite(real) || real < decl.min || real > decl.max ||
            (decl.least > 0 && real != 0 && real < decl.least))
            refuse(table_->owner(), decl, given);
        put(decl, real);
        return;
    }
    case ParamKind::choice: {
        const auto* name_text = std::get_if<std::string>(&value);
        if (!name_text ||
            std::find(decl.choices.begin(), decl.choices.end(), *name_text) == decl.choices.end())
            refuse(table_->owner(), decl, given);
        break;
    }
    case ParamKind::text:
    case ParamKind::path:
        if (!std::holds_alternative<std::string>(value))
            refuse(table_->owner(), decl, given);
        if (!decl.choices.empty())
            several_of(decl, table_->owner(), given);
        break;
    }
    put(decl, value);
}

void Params::set_text(std::string_view name, std::string_view text) {
    const ParamDecl& decl = table_->at(name);
    const char* end = text.data() + text.size();
    switch (decl.kind) {
    case ParamKind::boolean: {
        const bool yes = text == "true" || text == "on" || text == "yes" || text == "1";
        const bool no = text == "false" || text == "off" || text == "no" || text == "0";
        if (!yes && !no)
            refuse(table_->owner(), decl, std::string(text));
        return set(name, yes);
    }
    case ParamKind::action:
    case ParamKind::integer: {
        std::int64_t whole = 0;
        const auto [stop, error] = std::from_chars(text.data(), end, whole);
        if (error != std::errc{} || stop != end)
            refuse(table_->owner(), decl, std::string(text));
        return set(name, whole);
    }
    case ParamKind::real: {
        double real = 0;
        const auto [stop, error] = std::from_chars(text.data(), end, real);
        if (error != std::errc{} || stop != end)
            refuse(table_->owner(), decl, std::string(text));
        return set(name, real);
    }
    case ParamKind::choice:
    case ParamKind::text:
    case ParamKind::path:
        return set(name, std::string(text));
    }
}

} // namespace specklescope
