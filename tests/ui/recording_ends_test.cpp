// Messages about recordings that have ended.
#include "session/recordings.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace specklescope::recording_ends_test {

TEST(EndOfRecording, CountsOneAsOne) {
    SinkStatus status;
    EXPECT_EQ(end_of_recording(status).level, Message::Level::warning) << "nothing came";
    status.path = "a.tiff";
    status.written = 1;
    EXPECT_EQ(end_of_recording(status).text, "Recorded 1 frame to a.tiff.");
    status.dropped = 1;
    EXPECT_EQ(end_of_recording(status).text, "Recorded 1 frame to a.tiff; 1 was dropped.");
    EXPECT_EQ(end_of_recording(status).level, Message::Level::warning);
    status.written = 2;
    status.dropped = 3;
    EXPECT_EQ(end_of_recording(status).text, "Recorded 2 frames to a.tiff; 3 were dropped.");
}

TEST(EndOfRecording, AFailureKeepsItsReasonAndCountsTheSaved) {
    SinkStatus status;
    status.error = "The disk is full.";
    const auto text = [&] { return end_of_recording(status).text; };
    EXPECT_EQ(end_of_recording(status).level, Message::Level::error);
    EXPECT_NE(text().find(status.error), std::string::npos) << text();
    EXPECT_EQ(text().find("frame"), std::string::npos) << "nothing was saved: " << text();
    status.written = 10;
    status.seconds = 0.36;
    status.path = "b.tiff";
    status.before.push_back({"a.tiff", 4, 100});
    for (const char* part : {"10 frames", "(0.4 s)", "a.tiff, b.tiff", "The disk is full."})
        EXPECT_NE(text().find(part), std::string::npos) << part << " in " << text();
    status.seconds = NAN; // frames without times
    EXPECT_EQ(text().find('('), std::string::npos) << text();
}

} // namespace specklescope::recording_ends_test
