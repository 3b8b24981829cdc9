// Visible time and value range of a trace plot, and the text of its axes.
#include "ui/traces/trace_view.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace specklescope::traces_view_test {

constexpr std::int64_t kSecond = 1'000'000'000;

double moment(const TraceView& view, double part) {
    return static_cast<double>(view.from_ns()) + part * static_cast<double>(view.to_ns() - view.from_ns());
}

TEST(TracesView, FollowsTheLastSecondsFromTheLeftOn) {
    TraceView view;
    view.set_run(5 * kSecond, 7 * kSecond);
    EXPECT_EQ(view.from_ns(), 5 * kSecond); // a run that is shorter than the plot
    EXPECT_EQ(view.to_ns(), 15 * kSecond);
    view.set_run(5 * kSecond, 100 * kSecond);
    EXPECT_EQ(view.from_ns(), 90 * kSecond);
    EXPECT_EQ(view.to_ns(), 100 * kSecond);
    view.follow(30);
    EXPECT_EQ(view.from_ns(), 70 * kSecond);
    view.show_whole();
    view.set_run(5 * kSecond, 200 * kSecond);
    EXPECT_EQ(view.from_ns(), 5 * kSecond);
    EXPECT_EQ(view.to_ns(), 200 * kSecond);
    view.set_run(0, 0); // a single frame
    EXPECT_EQ(view.from_ns(), 0);
    EXPECT_EQ(view.to_ns(), kSecond);
}

TEST(TracesView, ZoomKeepsTheMomentUnderThePointerAndHolds) {
    TraceView view;
    view.set_run(0, 100 * kSecond);
    for (const double part : {0.0, 0.25, 0.9, 1.0})
        for (const double factor : {1.25, 0.8, 3.0}) {
            const double before = moment(view, part), span = view.span_s();
            view.zoom(part, factor);
            EXPECT_NEAR(moment(view, part), before, 2);
            EXPECT_NEAR(view.span_s(), span / factor, 1e-6);
            EXPECT_EQ(view.mode(), TraceView::Mode::held);
        }
    const std::int64_t from = view.from_ns();
    view.set_run(0, 500 * kSecond);
    EXPECT_EQ(view.from_ns(), from);
    const double span = view.span_s();
    view.follow(); // with the same visible length
    EXPECT_NEAR(view.span_s(), span, 1e-6);
    EXPECT_EQ(view.to_ns(), 500 * kSecond);
    for (int i = 0; i < 200; ++i)
        view.zoom(0.5, 2);
    EXPECT_GE(view.to_ns() - view.from_ns(), 1000);
    for (int i = 0; i < 200; ++i)
        view.zoom(0.5, 0.5);
    EXPECT_NEAR(view.span_s(), TraceView::kLongest, 1);
}

TEST(TracesView, PansByPartsAndKeepsTheRunInSight) {
    TraceView view;
    view.set_run(0, 100 * kSecond);
    view.pan(0.5);
    EXPECT_EQ(view.mode(), TraceView::Mode::held);
    EXPECT_NEAR(static_cast<double>(view.from_ns()), 85e9, 1);
    for (int i = 0; i < 50; ++i)
        view.pan(1);
    EXPECT_NEAR(static_cast<double>(view.from_ns()), -9e9, 1);
    for (int i = 0; i < 50; ++i)
        view.pan(-1);
    EXPECT_NEAR(static_cast<double>(view.from_ns()), 99e9, 1);
}

TEST(TracesView, AutomaticRangeHoldsTheExtremesWithRoom) {
    EXPECT_EQ(automatic_span({}), (ValueSpan{0, 1}));
    for (const ValueSpan& extremes : {ValueSpan{0.1, 0.9}, ValueSpan{-5, 2000}, ValueSpan{1e-7, 3e-7},
                                      ValueSpan{3, 3}, ValueSpan{0, 0}}) {
        const ValueSpan span = automatic_span(extremes);
        EXPECT_LT(span.low, extremes.low);
        EXPECT_GT(span.high, extremes.high);
        EXPECT_LT(span.high - span.low, 1.5 * (extremes.high - extremes.low) + 2.5);
    }
    const ValueSpan near = automatic_span(ValueSpan{0.1003, 0.9004});
    EXPECT_EQ(near, automatic_span(ValueSpan{0.1001, 0.9002})); // does not flicker
}

TEST(TracesView, ValuesZoomAboutThePointer) {
    const ValueSpan span = zoomed({10, 30}, 0.25, 2);
    EXPECT_DOUBLE_EQ(span.low, 12.5);
    EXPECT_DOUBLE_EQ(span.high, 22.5);
    const ValueSpan least = zoomed({1, 1 + 1e-12}, 0.5, 1000);
    EXPECT_GT(least.high, least.low);
}

TEST(TracesView, TimesAreWrittenAsPeopleReadThem) {
    EXPECT_EQ(time_text(12.5, 0.5), "12.5 s");
    EXPECT_EQ(time_text(0, 1), "0 s");
    EXPECT_EQ(time_text(125, 5), "2:05");
    EXPECT_EQ(time_text(125.25, 0.05), "2:05.25");
    EXPECT_EQ(time_text(3725, 60), "1:02:05");
    EXPECT_EQ(time_text(59.97, 0.1), "1:00.0");
    EXPECT_EQ(time_text(-3, 1), "−3 s");
    EXPECT_EQ(time_text(-0.0001, 0.1), "0.0 s");
    EXPECT_EQ(time_text(0.00125, 0.00005), "0.00125 s");
}

TEST(TracesView, StepsOfTimeAreRoundAndFewEnough) {
    EXPECT_EQ(time_step(10, 5), 2);
    EXPECT_EQ(time_step(std::nextafter(10.0, 11.0), 2), 5);
    EXPECT_EQ(time_step(60, 5), 15);
    EXPECT_EQ(time_step(600, 5), 120);
    EXPECT_EQ(time_step(3600, 5), 900);
    EXPECT_EQ(time_step(86400, 5), 21600);
    EXPECT_NEAR(time_step(0.01, 5), 0.002, 1e-12);
    EXPECT_EQ(time_step(10 * 86400, 5), 2 * 86400);
    for (double span = 1e-5; span < 1e7; span *= 1.37)
        EXPECT_LE(span / time_step(span, 6), 6 + 1e-9) << span;
}

} // namespace specklescope::traces_view_test
