// Helpers for tests of cameras: a source, and the two test cameras.
#pragma once

#include "base/error.hpp"
#include "sources/aravis/aravis_source.hpp"

#include "tests/sources/fake_camera.hpp"
#include "tests/support/places.hpp"
#include "tests/support/test_port.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>

namespace specklescope::test {

using CameraOptions = std::vector<std::pair<std::string, std::string>>;

inline std::unique_ptr<Source> camera(const std::string& name, CameraOptions options) {
    options.emplace_back("packet-size", "9000");
    const SourceType type = aravis_source_type();
    Params params(*type.table);
    for (const auto& [key, value] : options)
        params.set_text(key, value);
    return type.make({"aravis", name, {}}, params);
}

/// Waits until it answers.
inline bool answers(const std::string& name) {
    for (int i = 0; i < 40; ++i)
        for (const auto& [source, text] : aravis_source_type().discover())
            if (source == "aravis:" + name)
                return true;
    return false;
}

inline std::string sentence(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

/// Reads until the source delivers nothing for `patience`.
inline void read_all(Source& source, TestPort& port, std::chrono::milliseconds patience) {
    read_frames(source, port, static_cast<std::size_t>(-1), patience);
}

inline std::uint64_t reasons(const TestPort& port) {
    std::uint64_t sum = 0;
    for (const auto& [why, frames] : port.lost_because) {
        EXPECT_FALSE(why.empty());
        std::cout << frames << ' ' << why << '\n';
        sum += frames;
    }
    return sum;
}

class InNamespace : public testing::Test {
protected:
    void SetUp() override {
        if (!std::getenv("SPECKLESCOPE_IN_NAMESPACE"))
            GTEST_SKIP() << "network namespaces are not permitted here, or aravis-tools is not installed";
    }
};

/// The one of aravis. It polls for triggers 25 times per second, so that only one of several in a period is
/// answered.
class FakeTrigger : public InNamespace {
protected:
    void SetUp() override {
        InNamespace::SetUp();
        if (IsSkipped())
            return;
        device_ = std::make_unique<FakeCamera>("GV01");
        ASSERT_TRUE(answers(kName));
    }
    static constexpr const char* kName = "Aravis-Fake-GV01";
    std::unique_ptr<FakeCamera> device_;
};

/// The one in Python.
class GigeCamera : public InNamespace {
protected:
    static constexpr const char* kName = "Test-Python-GV77";
    void start(std::vector<std::string> options) {
        std::vector<std::string> command = {
            "/usr/bin/python3", source_folder() + "/tests/sources/gige_camera.py", "--report", report_};
        command.insert(command.end(), options.begin(), options.end());
        device_ = std::make_unique<CameraProcess>(command);
        ASSERT_TRUE(answers(kName));
    }
    /// Stops it and returns its report.
    nlohmann::json report() {
        device_->end();
        std::ifstream file(report_);
        return nlohmann::json::parse(file, nullptr, false);
    }
    void TearDown() override { std::filesystem::remove(report_); }
    const std::string report_ =
        (std::filesystem::temp_directory_path() / ("gige-" + std::to_string(::getpid()) + ".json")).string();
    std::unique_ptr<CameraProcess> device_;
};

} // namespace specklescope::test
