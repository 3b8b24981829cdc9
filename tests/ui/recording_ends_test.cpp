// Messages about recordings that have ended.
#include "session/recordings.hpp"

#include <gtest/gtest.h>

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
    status.error = "The disk is full.";
    EXPECT_EQ(end_of_recording(status).text, "The disk is full.");
}

} // namespace specklescope::recording_ends_test
