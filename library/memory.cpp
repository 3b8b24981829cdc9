// Memory for callers: on a GPU, or page-locked on the host.
#include "library/chain.hpp"

#include "base/memory_budget.hpp"

using namespace specklescope;
using namespace specklescope::library;

namespace {

/// Independent of its chain: holds the parts of the executor that it needs.
class MemoryObject final : public Object {
public:
    static constexpr Kind kKind{"memory", "specklescope_memory_create"};

    MemoryObject(DeviceMemoryOfCaller memory, void* stream) : memory_(std::move(memory)), stream_(stream) {}
    explicit MemoryObject(std::shared_ptr<void> of_host)
        : memory_{.data = std::move(of_host), .device = kHost, .order = {}, .forget_stream = {}} {}
    void order(void* later) const {
        need_device();
        memory_.order(stream_, later);
    }
    int device() const {
        need_device();
        return memory_.device;
    }
    void forget_stream() const {
        need_device();
        memory_.forget_stream();
    }

private:
    static constexpr int kHost = -1;
    void need_device() const {
        if (memory_.device == kHost)
            throw UsageError("This is host memory; specklescope_memory_create() allocates GPU memory.");
    }

    DeviceMemoryOfCaller memory_;
    void* stream_ = nullptr;
};

std::shared_ptr<void> allocate(const std::shared_ptr<SlotMemory>& memory, std::size_t bytes) {
    if (bytes == 0)
        throw UsageError("There is no memory of 0 bytes; allowed: 1 and more, the height of an image times "
                         "its pitch.");
    check_memory(bytes, "Memory for frames and results", "ask for less, or free what is no longer needed");
    return {memory->allocate(bytes), [memory](void* data) { memory->release(data); }};
}

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

specklescope_status specklescope_memory_create_host(specklescope_chain* chain, size_t bytes, void** data,
                                                    specklescope_memory** memory) {
    return guarded([&] {
        need(data, "The place for the address");
        need(memory, "The place for the memory");
        const std::shared_ptr<SlotMemory> place = find_as<ChainObject>(chain)->callers_memory();
        std::shared_ptr<void> made = allocate(place, bytes);
        void* const address = made.get();
        *memory = static_cast<specklescope_memory*>(
            keep(std::make_shared<MemoryObject>(std::move(made)), MemoryObject::kKind));
        *data = address;
    });
}

specklescope_status specklescope_memory_free(specklescope_memory* memory) {
    return guarded([&] {
        if (memory)
            take_out_as<MemoryObject>(memory);
    });
}

specklescope_status specklescope_memory_free_idle(specklescope_memory* memory) {
    return guarded([&] {
        if (!memory)
            return;
        find_as<MemoryObject>(memory)->forget_stream();
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
