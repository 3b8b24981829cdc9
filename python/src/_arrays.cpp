// Conversions between Python arrays and images of the library.
#include "_core.hpp"

namespace door {

namespace {

using Any = nb::ndarray<nb::ro>;

std::string shape_text(const Any& array) {
    std::string text = "(";
    for (std::size_t i = 0; i < array.ndim(); ++i)
        text += (i ? ", " : "") + std::to_string(array.shape(i));
    return text + (array.ndim() == 1 ? ",)" : ")");
}

std::string text_of(const nb::object& object) { return nb::cast<std::string>(nb::str(object)); }

/// "an array of float64", "of the type str".
std::string what_it_is(nb::handle object) {
    if (nb::hasattr(object, "dtype"))
        return "an array of " + text_of(object.attr("dtype"));
    return "of the type " + text_of(object.type().attr("__name__"));
}

[[noreturn]] void refuse(const std::string& sentence) { throw Failure{SPECKLESCOPE_USAGE_ERROR, sentence}; }

int type_of(const Any& array, nb::handle object, const std::string& which) {
    if (array.dtype() == nb::dtype<std::uint8_t>())
        return SPECKLESCOPE_U8;
    if (array.dtype() == nb::dtype<std::uint16_t>())
        return SPECKLESCOPE_U16;
    if (array.dtype() == nb::dtype<float>())
        return SPECKLESCOPE_F32;
    refuse(which + " is " + what_it_is(object) +
           "; allowed: uint8, uint16, float32: convert it with astype.");
}

specklescope_image shape_of(const Any& array, nb::handle object, const std::string& which) {
    const bool grey = array.ndim() == 2;
    if (!grey && !(array.ndim() == 3 && array.shape(2) == 3))
        refuse(which + " has the shape " + shape_text(array) +
               "; allowed: (height, width), or (height, width, 3) for colour.");
    auto image = sized<specklescope_image>();
    image.type = type_of(array, object, which);
    constexpr std::size_t kMost =
        1U << 30; // the library reports larger sizes; this limit protects the narrower type
    image.height = static_cast<std::int32_t>(std::min(array.shape(0), kMost));
    image.width = static_cast<std::int32_t>(std::min(array.shape(1), kMost));
    image.channels = grey ? 1 : 3;
    image.data = const_cast<void*>(array.data());
    return image;
}

/// Pitch of an array with contiguous samples in forward rows; 0 for other layouts.
std::size_t pitch_of(const Any& array) {
    const auto item = static_cast<std::int64_t>(array.itemsize());
    const auto width = static_cast<std::int64_t>(array.shape(1));
    const std::int64_t samples = array.ndim() == 3 ? 3 : 1;
    if (array.ndim() == 3 && array.stride(2) != 1)
        return 0;
    if (width > 1 && array.stride(1) != samples)
        return 0;
    if (array.shape(0) <= 1)
        return static_cast<std::size_t>(width * samples * item);
    return array.stride(0) >= width * samples ? static_cast<std::size_t>(array.stride(0) * item) : 0;
}

bool aligned(const Any& array) {
    return reinterpret_cast<std::uintptr_t>(array.data()) % array.itemsize() == 0;
}

nb::handle numpy(const char* name) {
    static const nb::handle module = nb::module_::import_("numpy").release();
    static const nb::handle empty = nb::object(module.attr("empty")).release();
    static const nb::handle array = nb::object(module.attr("array")).release();
    return name[0] == 'e' ? empty : array;
}

nb::handle dtype_name(std::int32_t type) {
    static const nb::handle names[] = {nb::str("uint8").release(), nb::str("uint16").release(),
                                       nb::str("float32").release()};
    return names[type];
}

nb::handle numpy_array() {
    static const nb::handle type = nb::object(nb::module_::import_("numpy").attr("ndarray")).release();
    return type;
}

/// Refuses masked arrays: masked values are undefined.
void refuse_mask(nb::handle object, const std::string& which) {
    if (object.type().is(numpy_array()))
        return;
    static const nb::handle masked =
        nb::object(nb::module_::import_("numpy.ma").attr("MaskedArray")).release();
    if (nb::isinstance(object, masked))
        refuse(which + " has a mask, which no stage knows; fill what is masked, with filled().");
}

/// True for an array of a supported type and native byte order whose layout only NumPy can read: a field of
/// a structured array.
bool lies_apart(nb::handle object) {
    if (!nb::isinstance(object, numpy_array()))
        return false;
    const nb::object type = object.attr("dtype");
    for (const std::int32_t known : {SPECKLESCOPE_U8, SPECKLESCOPE_U16, SPECKLESCOPE_F32})
        if (type.equal(dtype_name(known)))
            return true;
    return false;
}

/// None if the array cannot be read in place.
Any imported(nb::handle object) {
    Any array;
    if (nb::try_cast(object, array) && array.is_valid())
        return array;
    PyErr_Clear();
    return {};
}

Any checked(Any array, nb::handle object, const std::string& which) {
    if (!array.is_valid())
        refuse(which + " is " + what_it_is(object) +
               "; allowed: NumPy arrays of real numbers, and what offers DLPack or __array__.");
    if (array.device_type() != nb::device::cpu::value)
        refuse(which +
               " lies in memory of a device, which this call does not take; copy it to the host, with "
               ".get() (CuPy) or .cpu() (PyTorch).");
    return array;
}

/// NumPy view (2 or 3 dimensions) of another library's array; `array` must outlive it.
nb::object seen_by_numpy(const Any& array, nb::handle owner) {
    std::size_t shape[3] = {};
    std::int64_t strides[3] = {};
    for (std::size_t i = 0; i < array.ndim(); ++i) {
        shape[i] = array.shape(i);
        strides[i] = array.stride(i);
    }
    return nb::cast(
        nb::ndarray<nb::numpy, nb::ro>(array.data(), array.ndim(), shape, owner, strides, array.dtype()));
}

[[noreturn]] void refuse_apart() {
    refuse("The output's samples do not follow each other in a row; give a contiguous array, or leave it out "
           "for a "
           "new one.");
}

} // namespace

Given frame_of(nb::handle object) {
    refuse_mask(object, "The frame");
    Any array = imported(object);
    if (array.is_valid() || !lies_apart(object)) {
        array = checked(std::move(array), object, "The frame");
        specklescope_image image = shape_of(array, object, "The frame");
        image.pitch = pitch_of(array);
        if (array.size() == 0 || (image.pitch != 0 && aligned(array)))
            return {nb::borrow(object), image, std::move(array)};
    }
    const bool of_others = array.is_valid() && !nb::isinstance(object, numpy_array());
    nb::object copy =
        numpy("array")(of_others ? seen_by_numpy(array, object) : nb::borrow(object), nb::arg("order") = "C");
    array = checked(imported(copy), copy, "The frame");
    const specklescope_image image = shape_of(array, copy, "The frame");
    return {std::move(copy), image, std::move(array)};
}

specklescope_image shape_of_frame(nb::handle object) {
    refuse_mask(object, "The frame");
    Any array = imported(object);
    if (!array.is_valid() && lies_apart(object))
        return frame_of(object).image;
    return shape_of(checked(std::move(array), object, "The frame"), object, "The frame");
}

Given output_of(nb::handle object) {
    refuse_mask(object, "The output");
    if (Any array = imported(object); array.is_valid() || !lies_apart(object))
        (void)checked(std::move(array), object, "The output");
    else
        refuse_apart();
    nb::ndarray<> writable;
    if (!nb::try_cast(object, writable)) {
        PyErr_Clear();
        refuse("The output is read-only; give an array that may be written, or leave it out for a new one.");
    }
    Any array(writable);
    specklescope_image image = shape_of(array, object, "The output");
    image.pitch = pitch_of(array);
    if (image.pitch == 0 || !aligned(array))
        refuse_apart();
    return {nb::borrow(object), image, std::move(array)};
}

nb::object new_array(specklescope_image& image) {
    const nb::object shape = image.channels == 3 ? nb::object(nb::make_tuple(image.height, image.width, 3))
                                                 : nb::object(nb::make_tuple(image.height, image.width));
    nb::object made = numpy("empty")(shape, dtype_name(image.type));
    image.data = nb::cast<nb::ndarray<>>(made).data();
    image.pitch = 0;
    return made;
}

nb::object view_of(const specklescope_image& image, nb::handle owner) {
    const std::size_t item = image.type == SPECKLESCOPE_U8 ? 1 : image.type == SPECKLESCOPE_U16 ? 2 : 4;
    const auto channels = static_cast<std::int64_t>(image.channels == 3 ? 3 : 1);
    const std::size_t shape[3] = {static_cast<std::size_t>(image.height),
                                  static_cast<std::size_t>(image.width), 3};
    const std::int64_t strides[3] = {static_cast<std::int64_t>(image.pitch / item), channels, 1};
    const nb::dlpack::dtype types[] = {nb::dtype<std::uint8_t>(), nb::dtype<std::uint16_t>(),
                                       nb::dtype<float>()};
    return nb::cast(nb::ndarray<nb::numpy, nb::ro>(image.data, channels == 3 ? 3 : 2, shape, owner, strides,
                                                   types[image.type]));
}

} // namespace door
