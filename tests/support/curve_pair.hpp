// Keys for CURVE in files, as written by pyzmq.
#pragma once

#include <gtest/gtest.h>
#include <zmq.hpp>

#include <array>
#include <string>

namespace specklescope::test {

struct CurvePair {
    std::array<char, 41> open{}, secret{};
    CurvePair() { EXPECT_EQ(zmq_curve_keypair(open.data(), secret.data()), 0); }
    std::string certificate(bool with_secret) const {
        return "#  made by a test\nmetadata\ncurve\n    public-key = \"" + std::string(open.data()) + "\"\n" +
               (with_secret ? "    secret-key = \"" + std::string(secret.data()) + "\"\n" : "");
    }
    /// Gives a client socket its keys, for a server with these keys.
    void give(zmq::socket_t& socket, const CurvePair& server) const {
        socket.set(zmq::sockopt::curve_serverkey, std::string(server.open.data()));
        socket.set(zmq::sockopt::curve_publickey, std::string(open.data()));
        socket.set(zmq::sockopt::curve_secretkey, std::string(secret.data()));
    }
};

} // namespace specklescope::test
