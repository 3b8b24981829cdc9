#include "analysis/json_text.hpp"

#include "base/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace specklescope {

namespace {

/// More than any file here needs: of memory (a value takes about 110 bytes) and of time (keys are compared
/// with each other).
constexpr std::size_t kMostValues = std::size_t{1} << 21, kMostKeys = 64;

/// Hands the parser one byte after the other, and knows how many.
class CountedBytes {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountedBytes(const char* at, std::size_t* taken) : at_(at), taken_(taken) {}
    reference operator*() const { return *at_; }
    CountedBytes& operator++() {
        ++at_;
        ++*taken_;
        return *this;
    }
    CountedBytes operator++(int) {
        CountedBytes before = *this;
        ++*this;
        return before;
    }
    bool operator==(const CountedBytes& other) const { return at_ == other.at_; }
    bool operator!=(const CountedBytes& other) const { return at_ != other.at_; }

private:
    const char* at_;
    std::size_t* taken_;
};

class Builder final : public nlohmann::json_sax<nlohmann::json> {
public:
    Builder(std::string_view text, const std::string& name, std::size_t depth, const std::size_t& taken)
        : text_(text), name_(name), depth_(depth), taken_(taken) {}

    JsonValue take() { return std::move(root_); }

    bool null() override { return put(JsonValue::Kind::null), true; }
    bool boolean(bool value) override { return put(JsonValue::Kind::boolean).boolean = value, true; }
    bool number_integer(number_integer_t value) override { return number(static_cast<double>(value)); }
    bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value)); }
    bool number_float(number_float_t value, const string_t&) override { return number(value); }
    bool string(string_t& value) override {
        put(JsonValue::Kind::text).text = std::move(value);
        return true;
    }
    bool binary(binary_t&) override { return false; } // JSON has none
    bool start_object(std::size_t) override { return open(JsonValue::Kind::object); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(JsonValue::Kind::list); }
    bool end_array() override { return close(); }
    bool key(string_t& value) override {
        const auto& members = open_.back()->members;
        if (std::any_of(members.begin(), members.end(), [&](const auto& m) { return m.key == value; }))
            fail("the key '" + value.substr(0, 64) + "' is given twice; leave one of the two out");
        if (members.size() == kMostKeys)
            fail("an object has more than " + std::to_string(kMostKeys) + " keys");
        key_ = std::move(value);
        return true;
    }
    bool parse_error(std::size_t byte, const std::string&,
                     const nlohmann::detail::exception& error) override {
        taken_here_ = byte;
        fail(error.id == 406 ? "a number is too large" : "it is no JSON here");
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw UsageError(name_ + ", line " + std::to_string(line()) + ", byte " +
                         std::to_string(std::max<std::size_t>(taken(), 1)) + ": " + what + ".");
    }

    std::size_t taken() const { return taken_here_ > 0 ? taken_here_ : taken_; }
    /// Behind a number the parser has taken one byte more, which may be the end of the line.
    std::size_t line() const {
        const std::size_t end = std::min(text_.size(), std::max<std::size_t>(taken(), 1) - 1);
        while (counted_ < end)
            lines_ += text_[counted_++] == '\n' ? 1 : 0;
        return lines_;
    }

    JsonValue& put(JsonValue::Kind kind) {
        if (++values_ > kMostValues)
            fail("there are more than " + std::to_string(kMostValues) + " values");
        JsonValue* place = &root_;
        if (!open_.empty() && open_.back()->kind == JsonValue::Kind::list)
            place = &open_.back()->items.emplace_back();
        else if (!open_.empty())
            place = &open_.back()->members.emplace_back(JsonMember{std::move(key_), {}}).value;
        place->kind = kind;
        place->line = line();
        return *place;
    }
    bool number(double value) {
        put(JsonValue::Kind::number).number = value;
        return true;
    }
    bool open(JsonValue::Kind kind) {
        if (open_.size() == depth_)
            fail("lists and objects lie more than " + std::to_string(depth_) + " deep in each other");
        open_.push_back(&put(kind)); // stays where it is while it is open: nothing is added beside it
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t depth_;
    const std::size_t& taken_;
    std::size_t values_ = 0;
    std::size_t taken_here_ = 0; ///< where the parser says so itself
    mutable std::size_t counted_ = 0, lines_ = 1;
    std::string key_;
    JsonValue root_;
    std::vector<JsonValue*> open_;
};

} // namespace

std::string kind_name(const JsonValue& value) {
    static const char* const kNames[] = {"null", "true or false", "a number", "text", "a list", "an object"};
    return kNames[static_cast<std::size_t>(value.kind)];
}

JsonValue parse_json(std::string_view text, const std::string& name, std::size_t depth) {
    std::size_t taken = 0;
    Builder builder(text, name, depth, taken);
    nlohmann::json::sax_parse(CountedBytes(text.data(), &taken),
                              CountedBytes(text.data() + text.size(), &taken), &builder);
    return builder.take();
}

} // namespace specklescope
