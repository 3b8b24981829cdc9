// GPU memory: reads DLPack capsules, and allocates memory for results.
#include "_core.hpp"

#include <iterator>

namespace door {

namespace {

/// Freed in the order of its stream, which `keeps` keeps alive until then. If `keeps` is None, it is freed
/// when the GPU is idle, because the lifetime of a stream given by number is unknown. The exporter keeps the
/// memory alive.
class Memory {
public:
    Memory(specklescope_memory* memory, nb::object keeps) : memory_(memory), keeps_(std::move(keeps)) {}
    ~Memory() {
        if (!keeps_.is_none()) {
            specklescope_memory_free(memory_);
            return;
        }
        const WithoutGil others;
        specklescope_memory_free_idle(memory_);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    /// Makes `stream`, valid during the call, wait for the current work of the memory's own stream.
    void order(std::uintptr_t stream, const nb::object&) const {
        check(specklescope_memory_order(memory_, reinterpret_cast<void*>(stream)));
    }
    int device() const {
        std::int32_t device = 0;
        check(specklescope_memory_device(memory_, &device));
        return device;
    }

private:
    specklescope_memory* memory_;
    nb::object keeps_; ///< released after the memory
};

} // namespace

DevicePixels::DevicePixels(const nb::tuple& shape, int type, std::uintptr_t stream, std::uintptr_t address,
                           std::size_t pitch, nb::object kept)
    : described(sized<specklescope_image>()), holder(std::move(kept)) {
    described.data = reinterpret_cast<void*>(address);
    described.pitch = pitch;
    described.height = nb::cast<std::int32_t>(shape[0]);
    described.width = nb::cast<std::int32_t>(shape[1]);
    described.channels = shape.size() == 3 ? 3 : 1;
    described.type = type;
    described.memory = SPECKLESCOPE_DEVICE;
    described.stream = reinterpret_cast<void*>(stream);
}

nb::tuple read_dlpack(nb::handle capsule) {
    nb::ndarray<nb::ro> array;
    if (!nb::try_cast(capsule, array) || !array.is_valid()) {
        PyErr_Clear();
        return nb::tuple();
    }
    nb::list shape;
    nb::list strides;
    for (std::size_t i = 0; i < array.ndim(); ++i) {
        shape.append(array.shape(i));
        strides.append(array.stride(i));
    }
    const nb::dlpack::dtype type = array.dtype();
    static const char* const kKinds[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
    const std::string kind = type.lanes == 1 && type.code < std::size(kKinds)
                                 ? kKinds[type.code]
                                 : "dtype " + std::to_string(type.code) + " of ";
    const auto address = reinterpret_cast<std::uintptr_t>(array.data());
    return nb::make_tuple(address, nb::tuple(shape), nb::tuple(strides), kind + std::to_string(type.bits),
                          array.device_type(), array.device_id(),
                          nb::cast(std::move(array), nb::rv_policy::reference));
}

nb::tuple device_memory(specklescope_chain* chain, specklescope_image image, nb::object keeps) {
    specklescope_memory* memory = nullptr;
    check(specklescope_memory_create(chain, &image, &memory));
    return nb::make_tuple(nb::cast(new Memory(memory, std::move(keeps)), nb::rv_policy::take_ownership),
                          reinterpret_cast<std::uintptr_t>(image.data));
}

void add_device(nb::module_& module) {
    nb::class_<DevicePixels>(module, "DevicePixels")
        .def(nb::init<const nb::tuple&, int, std::uintptr_t, std::uintptr_t, std::size_t, nb::object>(),
             nb::arg("shape"), nb::arg("type"), nb::arg("stream"), nb::arg("address"), nb::arg("pitch"),
             nb::arg("holder").none());
    nb::class_<Memory>(module, "Memory")
        .def("order", &Memory::order, nb::arg("stream"), nb::arg("keeps").none())
        .def("device", &Memory::device);
    module.def("read_dlpack", &read_dlpack, nb::arg("capsule"));
    // A capsule on memory of a GPU that `holder` keeps; strides in samples.
    module.def(
        "lend_dlpack",
        [](std::uintptr_t address, const nb::tuple& shape, const nb::tuple& strides, int type, int device,
           nb::object holder) {
            std::size_t sides[3] = {};
            std::int64_t steps[3] = {};
            for (std::size_t i = 0; i < shape.size(); ++i) {
                sides[i] = nb::cast<std::size_t>(shape[i]);
                steps[i] = nb::cast<std::int64_t>(strides[i]);
            }
            const nb::dlpack::dtype types[] = {nb::dtype<std::uint8_t>(), nb::dtype<std::uint16_t>(),
                                               nb::dtype<float>()};
            return nb::cast(nb::ndarray<>(reinterpret_cast<void*>(address), shape.size(), sides, holder,
                                          steps, types[type], nb::device::cuda::value, device));
        },
        nb::arg("address"), nb::arg("shape"), nb::arg("strides"), nb::arg("type"), nb::arg("device"),
        nb::arg("holder"));
}

} // namespace door
