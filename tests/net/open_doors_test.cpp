// An output that is reachable from other machines is reported once; a local one is not.
#include "have_microhttpd.hpp"
#include "have_rtsp.hpp"
#include "tests/support/child.hpp"

namespace specklescope::open_doors_test {

struct Door {
    const char *option, *open, *kept;
    const char* warns_of; ///< the reported risk
};

class OpenDoor : public testing::TestWithParam<Door> {
protected:
    std::string said_with(const char* address) const {
        const ChildResult done =
            run_program({"run", "synthetic?width=64&height=48&live=false", "--frames", "2", "--backend",
                         "cpu", std::string("--") + GetParam().option, address},
                        folder_.path().string());
        EXPECT_EQ(done.status, 0) << done.all();
        return done.err;
    }
    TemporaryFolder folder_;
};

TEST_P(OpenDoor, IsSaidOnce) {
    const std::string words = "to everyone who reaches this machine over the network";
    const std::string open = said_with(GetParam().open);
    const std::size_t at = open.find(words);
    ASSERT_NE(at, std::string::npos) << open;
    EXPECT_EQ(open.find(words, at + 1), std::string::npos) << open;
    const std::string line = open.substr(at, open.find('\n', at) - at);
    EXPECT_NE(line.find(GetParam().warns_of), std::string::npos) << line;
    EXPECT_NE(line.find("127.0.0.1"), std::string::npos) << line;
    EXPECT_EQ(said_with(GetParam().kept).find("to everyone"), std::string::npos);
}

std::vector<Door> doors() {
    std::vector<Door> all = {
        {"publish", "zmq://*:0", "zmq://127.0.0.1:0", "results are sent unencrypted"},
        {"control", "zmq://*:0", "zmq://127.0.0.1:0", "changes all that the program does"},
    };
#ifdef SPECKLESCOPE_HAVE_MICROHTTPD
    all.push_back({"metrics", "*:0", "127.0.0.1:0", "the counts are sent unencrypted"});
#endif
#ifdef SPECKLESCOPE_HAVE_RTSP
    all.push_back({"serve", "rtsp://*:0/flow", "rtsp://127.0.0.1:0/flow", "unencrypted"});
#endif
    return all;
}

INSTANTIATE_TEST_SUITE_P(Option, OpenDoor, testing::ValuesIn(doors()),
                         [](const auto& door) { return std::string(door.param.option); });

} // namespace specklescope::open_doors_test
