// Params::set checks values of files, flags and sliders: kinds, ranges, choices, and its errors.
#include "pipeline/param.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace specklescope::param_test {

struct Sample {
    enum class Fruit : std::uint8_t { apple, pear, fig };
    int count = 3;
    int any_count = 0;
    double gain = 1.5;
    double free_real = 0;
    double at_most = 0;
    bool on = true;
    std::string name = "none";
    Fruit fruit = Fruit::pear;
    bool operator==(const Sample&) const = default;
};

const ParamTable& table() {
    static const ParamTable made =
        Declare<Sample>("thing sample")
            .integer("count", &Sample::count, {.unit = "px", .min = 1, .max = 15, .cost = Cost::rebuild})
            .integer("any_count", &Sample::any_count, {})
            .real("gain", &Sample::gain, {.unit = "dB", .min = 0.5, .max = 8})
            .real("free_real", &Sample::free_real, {})
            .real("at_most", &Sample::at_most, {.unit = "s", .max = 2})
            .boolean("on", &Sample::on, {})
            .text("name", &Sample::name, {.visible = [](const Sample& s) { return s.on; }})
            .choice("fruit", &Sample::fruit, {"apple", "pear", "fig"}, {})
            .table();
    return made;
}

/// The message of a UsageError; empty without one.
template <class F> std::string refusal(F&& f) {
    try {
        f();
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}
std::string refusal(Params& params, const std::string& name, const ParamValue& value) {
    const Sample before = params.as<Sample>();
    const std::string said = refusal([&] { params.set(name, value); });
    if (!said.empty()) {
        EXPECT_EQ(params.as<Sample>(), before) << "refused, yet changed";
    }
    return said;
}
std::string text_refusal(Params& params, const std::string& name, const std::string& text) {
    const Sample before = params.as<Sample>();
    const std::string said = refusal([&] { params.set_text(name, text); });
    if (!said.empty()) {
        EXPECT_EQ(params.as<Sample>(), before) << "refused, yet changed";
    }
    return said;
}

TEST(Params, DefaultsAreTheStructs) {
    const Params params(table());
    EXPECT_EQ(params.as<Sample>(), Sample{});
    EXPECT_EQ(params.get("count"), ParamValue(std::int64_t{3}));
    EXPECT_EQ(params.get("gain"), ParamValue(1.5));
    EXPECT_EQ(params.get("on"), ParamValue(true));
    EXPECT_EQ(params.get("name"), ParamValue(std::string("none")));
    EXPECT_EQ(params.get("fruit"), ParamValue(std::string("pear")));
}

TEST(Params, SetsEveryKind) {
    Params params(table());
    params.set("count", std::int64_t{15});
    params.set("gain", 0.5);
    params.set("on", false);
    params.set("name", std::string("a b=c,d"));
    params.set("fruit", std::string("fig"));
    const Sample& s = params.as<Sample>();
    EXPECT_EQ(s.count, 15);
    EXPECT_EQ(s.gain, 0.5);
    EXPECT_FALSE(s.on);
    EXPECT_EQ(s.name, "a b=c,d");
    EXPECT_EQ(s.fruit, Sample::Fruit::fig);
    params.set("gain", std::int64_t{2}); // an integer is accepted as a real
    EXPECT_EQ(s.gain, 2.0);
}

TEST(Params, ACopyIsIndependent) {
    const Params first(table());
    Params second = first;
    second.set("count", std::int64_t{9});
    EXPECT_EQ(first.as<Sample>().count, 3);
}

TEST(Params, RefusesTheWrongKind) {
    Params params(table());
    for (const char* name : {"count", "any_count"})
        for (const ParamValue& value : {ParamValue(true), ParamValue(2.0), ParamValue(std::string("2"))})
            EXPECT_NE(refusal(params, name, value), "") << name << " = " << to_string(value);
    for (const ParamValue& value : {ParamValue(true), ParamValue(std::string("2"))})
        EXPECT_NE(refusal(params, "gain", value), "");
    for (const ParamValue& value :
         {ParamValue(std::int64_t{1}), ParamValue(1.0), ParamValue(std::string("true"))})
        EXPECT_NE(refusal(params, "on", value), "");
    for (const ParamValue& value : {ParamValue(std::int64_t{1}), ParamValue(1.0), ParamValue(true)}) {
        EXPECT_NE(refusal(params, "fruit", value), "");
        EXPECT_NE(refusal(params, "name", value), "");
    }
}

TEST(Params, RefusesValuesOutOfRange) {
    Params params(table());
    EXPECT_EQ(refusal(params, "count", std::int64_t{1}), "");
    EXPECT_EQ(refusal(params, "count", std::int64_t{15}), "");
    EXPECT_EQ(refusal(params, "count", std::int64_t{16}),
              "thing sample: count = 16 is not possible; allowed: a whole number, 1…15 px.");
    EXPECT_EQ(refusal(params, "count", std::int64_t{0}),
              "thing sample: count = 0 is not possible; allowed: a whole number, 1…15 px.");
    EXPECT_NE(refusal(params, "count", std::numeric_limits<std::int64_t>::min()), "");
    EXPECT_EQ(refusal(params, "gain", 8.0), "");
    EXPECT_EQ(refusal(params, "gain", 8.000001),
              "thing sample: gain = 8.000001 is not possible; allowed: a number, 0.5…8 dB.");
    EXPECT_NE(refusal(params, "gain", 0.49), "");
}

TEST(Params, RefusesNanAndInfinityEverywhere) {
    Params params(table());
    for (const char* name : {"gain", "free_real", "at_most"})
        for (const double value :
             {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
              -std::numeric_limits<double>::infinity()})
            EXPECT_NE(refusal(params, name, value), "") << name << " = " << value;
    for (const char* text : {"nan", "NaN", "-nan", "inf", "infinity", "-inf"})
        EXPECT_NE(text_refusal(params, "free_real", text), "") << text;
}

TEST(Params, RefusesIntegersThatDoNotFitTheStruct) {
    Params params(table());
    EXPECT_EQ(refusal(params, "any_count", std::int64_t{2'147'483'647}), "");
    EXPECT_EQ(params.as<Sample>().any_count, 2'147'483'647);
    EXPECT_NE(refusal(params, "any_count", std::int64_t{2'147'483'648}), "");
    EXPECT_NE(refusal(params, "any_count", std::int64_t{-2'147'483'649}), "");
    EXPECT_NE(text_refusal(params, "any_count", "4294967297"), "");
}

TEST(Params, ReadsText) {
    Params params(table());
    const Sample& s = params.as<Sample>();
    params.set_text("count", "7");
    EXPECT_EQ(s.count, 7);
    params.set_text("gain", "2.5");
    EXPECT_EQ(s.gain, 2.5);
    params.set_text("gain", "1e0");
    EXPECT_EQ(s.gain, 1);
    params.set_text("fruit", "apple");
    EXPECT_EQ(s.fruit, Sample::Fruit::apple);
    for (const char* yes : {"true", "on", "yes", "1"}) {
        params.set_text("on", "off");
        params.set_text("on", yes);
        EXPECT_TRUE(s.on) << yes;
    }
    for (const char* no : {"false", "off", "no", "0"}) {
        params.set_text("on", "on");
        params.set_text("on", no);
        EXPECT_FALSE(s.on) << no;
    }
    params.set_text("name", "");
    EXPECT_EQ(s.name, "");
}

TEST(Params, RefusesBadText) {
    Params params(table());
    for (const char* text : {"", " ", "x", "3 ", " 3", "3.0", "3px", "0x3", "1e1", "99999999999999999999"})
        EXPECT_NE(text_refusal(params, "count", text), "") << "'" << text << "'";
    for (const char* text : {"", "x", "1.5dB", "1,5", "1e999", "--1", "1 2"})
        EXPECT_NE(text_refusal(params, "gain", text), "") << "'" << text << "'";
    for (const char* text : {"", "maybe", "TRUE!", "2"})
        EXPECT_EQ(text_refusal(params, "on", text),
                  "thing sample: on = " + std::string(text) + " is not possible; allowed: true, false.");
    for (const char* text : {"", "Apple", "app", "apple "})
        EXPECT_EQ(text_refusal(params, "fruit", text), "thing sample: fruit = " + std::string(text) +
                                                           " is not possible; allowed: apple, pear, fig.");
}

TEST(Params, AnUnknownKeyIsRefusedWithTheKnownKeys) {
    Params params(table());
    EXPECT_EQ(refusal(params, "cuont", std::int64_t{3}),
              "thing sample has no key 'cuont'; allowed: count, any_count, gain, free_real, at_most, on, "
              "name, fruit.");
    EXPECT_NE(refusal([&] { (void)params.get("Count"); }), "");
    struct Empty {};
    const ParamTable none = Declare<Empty>("thing none").table();
    Params nothing(none);
    EXPECT_EQ(refusal([&] { nothing.set_text("a", "1"); }), "thing none has no key 'a'; it takes none.");
}

TEST(Params, AllowedTextNamesTheLimitsThatExist) {
    EXPECT_EQ(allowed_text(table().at("count")), "allowed: a whole number, 1…15 px");
    EXPECT_EQ(allowed_text(table().at("gain")), "allowed: a number, 0.5…8 dB");
    EXPECT_EQ(allowed_text(table().at("free_real")), "allowed: a number");
    EXPECT_EQ(allowed_text(table().at("at_most")), "allowed: a number up to 2 s");
    EXPECT_EQ(allowed_text(table().at("any_count")), "allowed: a whole number");
    EXPECT_EQ(allowed_text(table().at("name")), "allowed: any text");
}

TEST(Params, VisibilityFollowsTheValues) {
    Params params(table());
    EXPECT_TRUE(params.visible(table().at("name")));
    EXPECT_TRUE(params.visible(table().at("count")));
    params.set("on", false);
    EXPECT_FALSE(params.visible(table().at("name")));
}

TEST(Params, NumbersSurviveConversionToText) {
    Params params(table());
    for (const double value : {0.1, 1.0 / 3, 1e-300, -12345.678901234567, 4.9e-324, 1.7976931348623157e308}) {
        params.set("free_real", value);
        const std::string text = to_string(params.get("free_real"));
        params.set("free_real", 0.0);
        params.set_text("free_real", text);
        EXPECT_EQ(params.as<Sample>().free_real, value) << text;
    }
}

} // namespace specklescope::param_test
