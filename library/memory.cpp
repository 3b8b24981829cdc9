// Memory of a GPU that callers get from the library.
#include "library/chain.hpp"

using namespace specklescope;
using namespace specklescope::library;

namespace {

/// Lives on its own: what it needs of the executor it holds.
class MemoryObject final : public Object {
public:
    static constexpr Kind kKind{"memory", "specklescope_memory_create"};

    MemoryObject(DeviceMemoryOfCaller memory, void* stream) : memory_(std::move(memory)), stream_(stream) {}
    void order(void* later) const { memory_.order(stream_, later); }
    int device() const { return memory_.device; }

private:
    DeviceMemoryOfCaller memory_;
    void* stream_;
};

} // namespace

extern "C" {

specklescope_status specklescope_memory_create(specklescope_chain* chain, specklescope_image* image,
                                               specklescope_memory** memory) {
    return guarded([&] {
        need(memory, "The place for the memory");
        const Using<ChainObject> use(chain);
        specklescope_image wanted = read_struct(image, "The image");
        const Shape shape = shape_of(wanted, "The image");
        const std::size_t size = wanted.struct_size;
        void* const stream = wanted.stream;
        DeviceMemoryOfCaller made = use->executor().allocate_device(shape.bytes(), stream);
        wanted = to_c(shape);
        wanted.struct_size = size;
        wanted.data = made.data.get();
        wanted.memory = SPECKLESCOPE_DEVICE;
        wanted.stream = stream;
        *memory = static_cast<specklescope_memory*>(
            keep(std::make_shared<MemoryObject>(std::move(made), stream), MemoryObject::kKind));
        write_struct(image, wanted, "The image");
    });
}

specklescope_status specklescope_memory_free(specklescope_memory* memory) {
    return guarded([&] {
        if (memory)
            take_out_as<MemoryObject>(memory);
    });
}

specklescope_status specklescope_memory_order(specklescope_memory* memory, void* stream) {
    return guarded([&] { find_as<MemoryObject>(memory)->order(stream); });
}

specklescope_status specklescope_memory_device(specklescope_memory* memory, int32_t* device) {
    return guarded([&] {
        need(device, "The place for the device");
        *device = find_as<MemoryObject>(memory)->device();
    });
}

} // extern "C"
