#include "cuda/gl_texture.hpp"

#include "cuda/convert.hpp"
#include "cuda/device.hpp"

#include <GL/gl.h>
#include <cuda_gl_interop.h>

#include <algorithm>
#include <array>

namespace specklescope {

namespace {

using namespace cuda;

/// Throws unless OpenGL uses the GPU that computes.
void require_same_gpu() {
    int computing = 0;
    check(cudaGetDevice(&computing), "cudaGetDevice");
    std::array<int, 16> drawing{};
    unsigned count = 0;
    const cudaError_t status = cudaGLGetDevices(&count, drawing.data(), drawing.size(), cudaGLDeviceListAll);
    if (status != cudaSuccess || count == 0) {
        static_cast<void>(cudaGetLastError());
        throw RunError("CUDA-GL interop is refused: OpenGL does not draw on an NVIDIA GPU here (" +
                       std::string(cudaGetErrorString(status)) + ").");
    }
    if (std::find(drawing.begin(), drawing.begin() + count, computing) == drawing.begin() + count)
        throw RunError("CUDA-GL interop is refused: OpenGL draws on another GPU than the one that computes.");
}

/// Maps the texture for its lifetime.
class Mapping {
public:
    Mapping(cudaGraphicsResource_t resource, const Stream& stream) : resource_(resource), stream_(stream) {
        check(cudaGraphicsMapResources(1, &resource_, stream_.get()), "cudaGraphicsMapResources");
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() {
        if (resource_)
            log_failure(cudaGraphicsUnmapResources(1, &resource_, stream_.get()),
                        "cudaGraphicsUnmapResources");
    }
    cudaArray_t array() {
        cudaArray_t array = nullptr;
        check(cudaGraphicsSubResourceGetMappedArray(&array, resource_, 0, 0),
              "cudaGraphicsSubResourceGetMappedArray");
        return array;
    }

private:
    cudaGraphicsResource_t resource_;
    const Stream& stream_;
};

/// A surface that a kernel can write.
class Surface {
public:
    explicit Surface(cudaArray_t array) {
        cudaResourceDesc what{};
        what.resType = cudaResourceTypeArray;
        what.res.array.array = array;
        check(cudaCreateSurfaceObject(&surface_, &what), "cudaCreateSurfaceObject");
    }
    Surface(const Surface&) = delete;
    Surface& operator=(const Surface&) = delete;
    ~Surface() { log_failure(cudaDestroySurfaceObject(surface_), "cudaDestroySurfaceObject"); }
    cudaSurfaceObject_t get() const { return surface_; }

private:
    cudaSurfaceObject_t surface_ = 0;
};

} // namespace

struct GlTexture::Registration {
    cudaGraphicsResource_t resource = nullptr;
    Stream stream;

    Registration(unsigned texture, bool colour) {
        const unsigned flags = colour ? cudaGraphicsRegisterFlagsSurfaceLoadStore // written by a kernel
                                      : cudaGraphicsRegisterFlagsWriteDiscard;
        const cudaError_t status = cudaGraphicsGLRegisterImage(&resource, texture, GL_TEXTURE_2D, flags);
        if (status != cudaSuccess) {
            static_cast<void>(cudaGetLastError());
            throw RunError(std::string("CUDA-GL interop is refused: ") + cudaGetErrorString(status) + ".");
        }
    }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    ~Registration() {
        log_failure(cudaGraphicsUnregisterResource(resource), "cudaGraphicsUnregisterResource");
    }
};

GlTexture::GlTexture(unsigned texture, const Shape& shape) : shape_(shape) {
    require_same_gpu();
    registration_ = std::make_unique<Registration>(texture, shape.channels == 3);
}

GlTexture::~GlTexture() = default;
GlTexture::GlTexture(GlTexture&&) noexcept = default;
GlTexture& GlTexture::operator=(GlTexture&&) noexcept = default;

void GlTexture::copy(const Frame& device_image) {
    if (device_image.shape() != shape_)
        throw RunError("CUDA-GL interop: the image is " + to_string(device_image.shape()) + ", the texture " +
                       to_string(shape_) + ".");
    const DeviceView pixels = device_image.device();
    const Stream& stream = registration_->stream;
    {
        Mapping mapping(registration_->resource, stream);
        if (shape_.channels == 3) {
            const Surface surface(mapping.array());
            expand_to_rgba(pixels, surface.get(), stream.get());
            stream.synchronize(); // before the surface is destroyed
            return;
        }
        check(cudaMemcpy2DToArrayAsync(mapping.array(), 0, 0, pixels.data, pixels.pitch, shape_.row_bytes(),
                                       static_cast<std::size_t>(shape_.height), cudaMemcpyDeviceToDevice,
                                       stream.get()),
              "cudaMemcpy2DToArrayAsync");
    }
    stream.synchronize(); // the caller may release the frame now
}

} // namespace specklescope
