// Key files: an accepted key decodes to its 32 bytes, and is equal when written and read again.
// Parser: net/curve.cpp
#include "have_zmq.hpp"
#include "net/address.hpp"
#include "tests/fuzz/support.hpp"

#include <sys/stat.h>

#ifdef SPECKLESCOPE_HAVE_ZMQ
#include <zmq.h>

namespace specklescope::fuzz {
namespace {

void check_key(const std::string& key) {
    std::array<std::uint8_t, 32> bytes{};
    std::array<char, 41> text{};
    demand(key.size() == 40 && zmq_z85_decode(bytes.data(), key.c_str()) != nullptr &&
               zmq_z85_encode(text.data(), bytes.data(), bytes.size()) != nullptr && key == text.data(),
           "it is no key: '" + key + "'");
}

/// One file for the program's own key and for its client's.
std::shared_ptr<const CurveKeys> keys_of(std::string_view bytes) {
    const FileOf file(bytes);
    demand(chmod(file.path().c_str(), 0600) == 0, "it cannot be made the owner's own");
    return load_curve_keys(file.path(), file.path());
}

void check_keys(std::string_view bytes) {
    std::shared_ptr<const CurveKeys> keys;
    if (!sentence_of(bytes.size(), true, [&] { keys = keys_of(bytes); }).empty())
        return;
    demand(keys && keys->clients.size() == 1, "there is not one client");
    check_key(keys->secret);
    check_key(*keys->clients.begin());
    std::shared_ptr<const CurveKeys> again;
    const std::string refused = sentence_of(bytes.size(), true, [&] {
        again = keys_of("public-key = \"" + *keys->clients.begin() + "\"\nsecret-key = \"" + keys->secret +
                        "\"\n");
    });
    demand(refused.empty(), "what is written is refused: '" + refused + "'");
    demand(again->secret == keys->secret && again->clients == keys->clients,
           "what is written is read back as something else");
}

} // namespace
} // namespace specklescope::fuzz

#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
#ifdef SPECKLESCOPE_HAVE_ZMQ
    specklescope::fuzz::check_keys(specklescope::fuzz::text_of(data, bytes));
#else
    (void)data, (void)bytes; // keys are not used without ZeroMQ
#endif
    return 0;
}
