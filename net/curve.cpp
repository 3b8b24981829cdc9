#include "net/address.hpp"

#include "base/error.hpp"
#include "have_zmq.hpp"

#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef SPECKLESCOPE_HAVE_ZMQ
#include "base/log.hpp"
#include "net/zmq_socket.hpp"

#include <spdlog/spdlog.h>
#include <zmq.h>
#endif

namespace specklescope {

namespace {

constexpr const char* kHow =
    "python3 -c 'import zmq.auth; zmq.auth.create_certificates(\".\", \"NAME\")' makes "
    "a pair.";

#ifdef SPECKLESCOPE_HAVE_ZMQ

/// The first kB: such a file has only a few hundred bytes.
std::string begin_of(const std::string& path, bool secret) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat file {};
    std::array<char, 4096> bytes{};
    ssize_t count = -1;
    if (fd >= 0 && ::fstat(fd, &file) == 0 && S_ISREG(file.st_mode))
        count = ::read(fd, bytes.data(), bytes.size());
    const int error = fd < 0 ? errno : EINVAL;
    if (fd >= 0)
        ::close(fd);
    if (count < 0)
        throw RunError("The key file '" + path + "' cannot be read: " +
                       std::generic_category().message(error) + ". Name a file with a key.");
    if (secret && (file.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        throw RunError(
            "The secret key in '" + path +
            "' is readable by others. Run chmod 600 on it, and replace it if it may have been read.");
    return {bytes.data(), static_cast<std::size_t>(count)};
}

/// The key in a line NAME = "…".
std::string key_in(const std::string& path, const std::string& text, std::string_view name) {
    constexpr std::size_t kChars = 40;
    const std::size_t at = text.find(name);
    const std::size_t begin = at == std::string::npos ? at : text.find('"', at);
    const std::size_t end = begin == std::string::npos ? begin : text.find('"', begin + 1);
    std::array<std::uint8_t, 32> bytes{};
    std::string key = end == std::string::npos ? "" : text.substr(begin + 1, end - begin - 1);
    // zmq_z85_decode ends a key at its first NUL.
    if (key.size() != kChars || key.find('\0') != std::string::npos ||
        !zmq_z85_decode(bytes.data(), key.c_str()))
        throw UsageError("'" + path + "' has no line " + std::string(name) +
                         " = \"…\" with a key of 40 "
                         "characters; " +
                         kHow);
    return key;
}

std::set<std::string> client_keys(const std::string& path) {
    namespace fs = std::filesystem;
    std::set<std::string> keys;
    const auto take = [&](const std::string& file) {
        keys.insert(key_in(file, begin_of(file, false), "public-key"));
    };
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        take(path);
        return keys;
    }
    for (const auto& entry : fs::directory_iterator(path, error))
        if (entry.path().extension() == ".key")
            take(entry.path().string());
    if (error)
        throw RunError("The key folder '" + path + "' cannot be read: " + error.message() +
                       ". Name a readable folder.");
    if (keys.empty())
        throw UsageError("The folder '" + path + "' has no *.key file, so no client could connect. " + kHow);
    return keys;
}

#endif

} // namespace

std::shared_ptr<const CurveKeys> load_curve_keys(const std::string& key_file, const std::string& clients) {
    if (key_file.empty() && clients.empty())
        return nullptr;
    if (key_file.empty() || clients.empty())
        throw UsageError("curve_key and curve_clients need each other. Name both.");
#ifdef SPECKLESCOPE_HAVE_ZMQ
    if (zmq_has("curve") == 0)
        throw RunError("ZeroMQ was built without CURVE. Leave the keys out, or install a ZeroMQ with CURVE.");
    auto keys = std::make_shared<CurveKeys>();
    keys->secret = key_in(key_file, begin_of(key_file, true), "secret-key");
    keys->clients = client_keys(clients);
    return keys;
#else
    throw RunError(
        "Keys are not available: built without ZeroMQ. Install libzmq3-dev and cppzmq-dev, and build again.");
#endif
}

#ifdef SPECKLESCOPE_HAVE_ZMQ

CurveGuard::CurveGuard(zmq::context_t& context, std::shared_ptr<const CurveKeys> keys)
    : keys_(std::move(keys)) {
    if (!keys_)
        return;
    asked_ = zmq::socket_t(context, ZMQ_REP);
    asked_.set(zmq::sockopt::linger, 0);
    asked_.bind("inproc://zeromq.zap.01");
    thread_ = std::thread([this] { run(); });
}

CurveGuard::~CurveGuard() {
    closing_ = true;
    if (thread_.joinable())
        thread_.join();
}

void CurveGuard::guard(zmq::socket_t& socket) const {
    if (!keys_)
        return;
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, keys_->secret);
    socket.set(zmq::sockopt::zap_domain, std::string("specklescope"));
}

void CurveGuard::run() {
    try {
        constexpr std::chrono::milliseconds kLook(20); // interval of the check for the end
        while (!closing_) {
            if (readable(asked_, kLook))
                answer_one();
        }
    } catch (const std::exception& error) {
        run_log().error("All clients are refused: {}.", error.what());
    }
}

/// version, request, domain, address, identity, mechanism, key → version, request, status, text, user,
/// metadata.
void CurveGuard::answer_one() {
    std::vector<std::string> parts;
    zmq::message_t part;
    do {
        (void)asked_.recv(part);
        parts.push_back(part.to_string());
    } while (part.more());
    constexpr std::size_t kParts = 7, kKey = 32;
    bool known = false;
    if (parts.size() == kParts && parts[5] == "CURVE" && parts[6].size() == kKey) {
        std::array<char, 41> text{};
        zmq_z85_encode(text.data(), reinterpret_cast<const std::uint8_t*>(parts[6].data()), kKey);
        known = keys_->clients.contains(text.data());
    }
    const std::array<std::string, 6> answer = {"1.0",
                                               parts.size() > 1 ? parts[1] : "",
                                               known ? "200" : "400",
                                               known ? "OK" : "This key is not known.",
                                               "",
                                               ""};
    for (std::size_t i = 0; i < answer.size(); ++i)
        (void)asked_.send(zmq::buffer(answer[i]),
                          i + 1 < answer.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
}

#endif

} // namespace specklescope
