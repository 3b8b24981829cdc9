// Owners of libspecklescope's handles; library errors become exceptions, which never leave the element.
#pragma once

#include "specklescope.h"

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

namespace specklescope::element {

/// Call that the library refused, with its message.
class Refusal : public std::runtime_error {
public:
    Refusal(specklescope_status status, const std::string& sentence)
        : std::runtime_error(sentence), status_(status) {}
    specklescope_status status() const { return status_; }

private:
    specklescope_status status_;
};

/// Throws Refusal with the library's message.
inline void check(specklescope_status status) {
    if (status != SPECKLESCOPE_OK)
        throw Refusal(status, specklescope_last_error());
}

inline bool same_shape(const specklescope_image& one, const specklescope_image& other) {
    return one.width == other.width && one.height == other.height && one.channels == other.channels &&
           one.type == other.type;
}

struct Free {
    void operator()(specklescope_chain* chain) const { specklescope_chain_free(chain); }
    void operator()(specklescope_view* view) const { specklescope_view_free(view); }
    void operator()(specklescope_memory* memory) const { specklescope_memory_free(memory); }
};
using ChainHandle = std::unique_ptr<specklescope_chain, Free>;
using ViewHandle = std::unique_ptr<specklescope_view, Free>;
using MemoryHandle = std::unique_ptr<specklescope_memory, Free>;

inline ChainHandle new_chain(const std::string& text, const specklescope_settings& settings) {
    specklescope_chain* made = nullptr;
    check(specklescope_chain_create(text.c_str(), &settings, &made));
    return ChainHandle(made);
}

/// Host memory that a chain reads and writes at full speed.
struct Room {
    void* data = nullptr;
    std::size_t bytes = 0;
    MemoryHandle owner;
};

/// Any thread. Throws Refusal, also if the chain has ended.
inline Room make_room(specklescope_chain* chain, std::size_t bytes) {
    Room made;
    specklescope_memory* memory = nullptr;
    check(specklescope_memory_create_host(chain, bytes, &made.data, &memory));
    made.owner.reset(memory);
    made.bytes = bytes;
    return made;
}

/// `= {sizeof x}`, as the header requires.
template <class T> T sized() {
    T made{};
    made.struct_size = sizeof made;
    return made;
}

} // namespace specklescope::element
