// Declarations of parameters: the default is in the plain struct, everything else in a table. The viewer's
// controls, command-line keys, TOML keys and the manual are generated from it. Files, flags and sliders all
// use Params::set.
#pragma once

#include "base/error.hpp"

#include <algorithm>
#include <any>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace specklescope {

/// Boolean, integer, real or text; a choice is stored as the text of its name.
using ParamValue = std::variant<bool, std::int64_t, double, std::string>;
std::string to_string(const ParamValue& value);

/// Cost of an edit: `free` takes effect on the next frame, `rebuild` makes the owner prepare again.
enum class Cost : std::uint8_t { free, rebuild };
/// `action` is a button: its value counts the presses. It is not written into chain texts, settings or
/// recordings. `path` is a text that names a file. A text with choices holds several of them:
/// "mean+contrast".
enum class ParamKind : std::uint8_t { boolean, integer, real, choice, text, path, action };
constexpr bool is_text(ParamKind kind) { return kind == ParamKind::text || kind == ParamKind::path; }

/// A value of a choice: its key, and its label in the window (empty: the key, capitalised).
struct ChoiceName {
    ChoiceName(const char* key_, const char* label_ = "") : key(key_), label(label_) {} // NOLINT: from a key
    ChoiceName(std::string key_, std::string label_ = "")                               // NOLINT: likewise
        : key(std::move(key_)), label(std::move(label_)) {}
    std::string key, label;
};
using ChoiceNames = std::vector<ChoiceName>;
/// Names without or with the labels of the first ones.
ChoiceNames choice_names(const std::vector<std::string>& keys, const std::vector<std::string>& labels = {});

struct ParamDecl {
    std::string name;
    std::string label; ///< in the window
    ParamKind kind = ParamKind::real;
    std::string unit; ///< empty when it has none
    std::string doc;  ///< one line
    double min = 0;   ///< integer and real: the closed range
    double max = 0;
    double least = 0; ///< for real values where 0 has its own meaning: the smallest other value; 0: no limit
    bool logarithmic = false;
    Cost cost = Cost::free;
    std::vector<std::string>
        choices; ///< choice, and text of several: the keys, in the order of the enumeration
    std::vector<std::string> labels; ///< their labels
    std::function<ParamValue(const std::any&)> get;
    std::function<void(std::any&, const ParamValue&)> put;
    std::function<bool(const std::any&)> visible; ///< empty: always
};

/// "side_by_side" → "Side by side".
std::string capitalised(std::string key);
/// Label of this choice; empty if there is no such choice.
std::string choice_label(const ParamDecl& decl, std::string_view key);
/// The choices in "mean+contrast": bit i for choice i. Throws UsageError for an unknown key.
unsigned several_of(const ParamDecl& decl, const std::string& owner, std::string_view text);
/// The inverse; "" for none.
std::string several_text(const ParamDecl& decl, unsigned several);

/// Declarations of one owner ("stage speckle", "source synthetic", "view") with its default values.
class ParamTable {
public:
    ParamTable(std::string owner, std::any defaults)
        : owner_(std::move(owner)), defaults_(std::move(defaults)) {}
    const std::string& owner() const { return owner_; }
    const std::vector<ParamDecl>& decls() const { return decls_; }
    const std::any& defaults() const { return defaults_; }
    const ParamDecl* find(std::string_view name) const;
    /// Throws UsageError with the list of keys.
    const ParamDecl& at(std::string_view name) const;
    void add(ParamDecl decl) { decls_.push_back(std::move(decl)); }

private:
    std::string owner_;
    std::any defaults_;
    std::vector<ParamDecl> decls_;
};

/// A parameter struct with its table: copyable, so that an edit can be tested on a copy.
class Params {
public:
    Params() = default;
    explicit Params(const ParamTable& table) : table_(&table), values_(table.defaults()) {}

    bool has_table() const { return table_ != nullptr; } ///< false: default-constructed, without declarations
    const ParamTable& table() const { return *table_; }
    ParamValue get(std::string_view name) const;
    /// Checks kind, range and choice; throws UsageError and keeps the old value. NaN is refused.
    void set(std::string_view name, const ParamValue& value);
    /// The same from text: "3", "2.5", "true", "on", a choice's name.
    void set_text(std::string_view name, std::string_view text);
    /// set() without given(): a value that the user did not choose.
    void suggest(std::string_view name, const ParamValue& value);
    /// True once set() was called for it, also with the default value.
    bool given(std::string_view name) const;
    bool visible(const ParamDecl& decl) const { return !decl.visible || decl.visible(values_); }
    template <class T> const T& as() const { return *std::any_cast<T>(&values_); }
    template <class T> T& as() { return *std::any_cast<T>(&values_); }

private:
    void put(const ParamDecl& decl, const ParamValue& value);

    const ParamTable* table_ = nullptr;
    std::any values_;
    std::vector<bool> given_; ///< per declaration, up to the last one set
};

/// "allowed: 1…15 px" / "allowed: sfi, contrast": used by errors, help and the manual.
std::string allowed_text(const ParamDecl& decl);

/// Declares the members of a plain struct P:
///   Declare<SpeckleParams>("stage speckle")
///       .integer("radius", &SpeckleParams::radius, {.unit = "px", .min = 1, .max = 15, .doc = "…"})
///       .choice("output", &SpeckleParams::output, {{"sfi", "Flow index (SFI)"}, "contrast"}, {.doc = "…"})
template <class P> class Declare {
public:
    struct Options {
        const char* label =
            ""; ///< in the window, if the name is not a word of a user; empty: the name, capitalised
        const char* unit = "";
        double min = -std::numeric_limits<double>::max();
        double max = std::numeric_limits<double>::max();
        double least = 0; ///< with min = 0: limit for values other than 0
        bool logarithmic = false;
        Cost cost = Cost::free;
        bool (*visible)(const P&) = nullptr;
        const char* doc = "";
    };

    explicit Declare(std::string owner) : table_(std::move(owner), P{}) {}

    Declare& boolean(const char* name, bool P::*member, const Options& options) {
        return add(name, ParamKind::boolean, member, options);
    }
    Declare& integer(const char* name, int P::*member, const Options& options) {
        return add(name, ParamKind::integer, member, options);
    }
    Declare& real(const char* name, double P::*member, const Options& options) {
        return add(name, ParamKind::real, member, options);
    }
    Declare& text(const char* name, std::string P::*member, const Options& options) {
        return add(name, ParamKind::text, member, options);
    }
    Declare& path(const char* name, std::string P::*member, const Options& options) {
        return add(name, ParamKind::path, member, options);
    }
    /// A button; its owner acts when the count has increased. Cost::free.
    Declare& action(const char* name, int P::*member, const Options& options) {
        return add(name, ParamKind::action, member, options);
    }
    /// `names` in the order of the enumeration's values, starting at 0.
    template <class E>
    Declare& choice(const char* name, E P::*member, ChoiceNames names, const Options& options) {
        std::vector<std::pair<ChoiceName, E>> all;
        all.reserve(names.size());
        for (ChoiceName& one : names)
            all.emplace_back(std::move(one), static_cast<E>(all.size()));
        return choice_among(name, member, all, options);
    }
    /// Some values of an enumeration, in display order; the default must be one of them.
    template <class E> Declare& choice_among(const char* name, E P::*member,
                                             const std::vector<std::pair<ChoiceName, E>>& offered,
                                             const Options& options) {
        ParamDecl decl = base(name, ParamKind::choice, options);
        for (const auto& [one, value] : offered) {
            decl.choices.push_back(one.key);
            decl.labels.push_back(one.label.empty() ? capitalised(one.key) : one.label);
        }
        decl.get = [member, offered](const std::any& values) {
            const E current = (*std::any_cast<P>(&values)).*member;
            const auto found = std::find_if(offered.begin(), offered.end(),
                                            [&](const auto& one) { return one.second == current; });
            return ParamValue{found == offered.end() ? std::string() : found->first.key};
        };
        decl.put = [member, offered](std::any& values, const ParamValue& value) {
            for (const auto& [known, one] : offered)
                if (known.key == std::get<std::string>(value))
                    (*std::any_cast<P>(&values)).*member = one;
        };
        table_.add(std::move(decl));
        return *this;
    }
    /// Any number of choices, joined by "+"; bit i of the member is choice i.
    Declare& several(const char* name, unsigned P::*member, const ChoiceNames& names,
                     const Options& options) {
        ParamDecl decl = base(name, ParamKind::text, options);
        for (const ChoiceName& one : names) {
            decl.choices.push_back(one.key);
            decl.labels.push_back(one.label.empty() ? capitalised(one.key) : one.label);
        }
        decl.get = [member, keys = decl](const std::any& values) {
            return ParamValue{several_text(keys, std::any_cast<const P&>(values).*member)};
        };
        decl.put = [member, keys = decl](std::any& values, const ParamValue& value) {
            std::any_cast<P&>(values).*member = several_of(keys, "", std::get<std::string>(value));
        };
        table_.add(std::move(decl));
        return *this;
    }
    /// The declarations of a struct within P, as keys of P, so that they are declared only once.
    template <class Part> Declare& part(Part P::*member, const ParamTable& declared) {
        const auto of = [member](const std::any& values) {
            return std::any(std::any_cast<const P&>(values).*member);
        };
        for (ParamDecl decl : declared.decls()) {
            decl.get = [get = decl.get, of](const std::any& values) { return get(of(values)); };
            decl.put = [put = decl.put, of, member](std::any& values, const ParamValue& value) {
                std::any part = of(values);
                put(part, value);
                std::any_cast<P&>(values).*member = std::any_cast<const Part&>(part);
            };
            if (decl.visible)
                decl.visible = [show = decl.visible, of](const std::any& values) { return show(of(values)); };
            table_.add(std::move(decl));
        }
        return *this;
    }
    ParamTable table() { return std::move(table_); }

private:
    static ParamDecl base(const char* name, ParamKind kind, const Options& options) {
        ParamDecl decl;
        decl.name = name;
        decl.label = *options.label ? options.label : capitalised(name);
        decl.kind = kind;
        decl.unit = options.unit;
        decl.doc = options.doc;
        decl.min = options.min;
        decl.max = options.max;
        decl.least = options.least;
        decl.logarithmic = options.logarithmic;
        decl.cost = options.cost;
        if (options.visible)
            decl.visible = [show = options.visible](const std::any& values) {
                return show(*std::any_cast<P>(&values));
            };
        return decl;
    }
    template <class M> Declare& add(const char* name, ParamKind kind, M P::*member, const Options& options) {
        using Stored = std::conditional_t<std::is_same_v<M, int>, std::int64_t, M>;
        ParamDecl decl = base(name, kind, options);
        decl.get = [member](const std::any& values) {
            return ParamValue{static_cast<Stored>((*std::any_cast<P>(&values)).*member)};
        };
        decl.put = [member](std::any& values, const ParamValue& value) {
            (*std::any_cast<P>(&values)).*member = static_cast<M>(std::get<Stored>(value));
        };
        table_.add(std::move(decl));
        return *this;
    }
    ParamTable table_;
};

} // namespace specklescope
