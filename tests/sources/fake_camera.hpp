// aravis' fake GigE Vision camera: a separate process that speaks the real protocol on 127.0.0.1.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace specklescope::test {

/// The protocol's discovery port is fixed, so that two cameras on one loopback would collide: tests run in
/// their own network namespace, in which the program restarts itself. False, with the reason, if that is not
/// permitted. Does not return when it succeeds for the first time. Call it before any thread exists.
inline bool enter_network_namespace(char** argv, std::string* reason) {
    constexpr const char* kInside = "SPECKLESCOPE_IN_NAMESPACE";
    if (std::getenv(kInside))
        return true;
    if (std::system("command -v arv-fake-gv-camera-0.8 >/dev/null 2>&1") != 0) {
        *reason = "arv-fake-gv-camera-0.8 is not installed (package aravis-tools)";
        return false;
    }
    if (std::system("unshare -rn ip link set lo up >/dev/null 2>&1") != 0) {
        *reason = "network namespaces are not permitted here (unshare -rn)";
        return false;
    }
    setenv(kInside, "1", 1);
    std::string command = "ip link set lo up && exec";
    for (char** word = argv; *word; ++word)
        command += " '" + std::string(*word) + "'";
    execlp("unshare", "unshare", "-rn", "sh", "-c", command.c_str(), nullptr);
    *reason = "unshare cannot be started";
    return false;
}

/// A camera in a separate process.
class CameraProcess {
public:
    explicit CameraProcess(std::vector<std::string> command) {
        process_ = fork();
        if (process_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); // a killed test must leave no process
            std::vector<char*> words;
            for (std::string& word : command)
                words.push_back(word.data());
            words.push_back(nullptr);
            execvp(words[0], words.data());
            _exit(127);
        }
    }
    ~CameraProcess() { end(); }
    CameraProcess(const CameraProcess&) = delete;
    CameraProcess& operator=(const CameraProcess&) = delete;
    /// Like unplugging the cable.
    void kill_it() { stop(SIGKILL); }
    void end() { stop(SIGTERM); }

private:
    void stop(int signal) {
        if (process_ <= 0)
            return;
        kill(process_, signal);
        waitpid(process_, nullptr, 0);
        process_ = 0;
    }
    pid_t process_ = 0;
};

/// The one of aravis.
class FakeCamera : public CameraProcess {
public:
    explicit FakeCamera(const std::string& serial)
        : CameraProcess({"arv-fake-gv-camera-0.8", "-i", "127.0.0.1", "-s", serial}) {}
};

} // namespace specklescope::test
