#include "ui/canvas/icon.hpp"

#include "config/data_folder.hpp"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <png.h>

#include <string>
#include <vector>

namespace specklescope {

namespace {

struct Icon {
    int width = 0, height = 0;
    std::vector<unsigned char> rgba;
};

/// Returns an empty icon if the file is missing or not a PNG.
Icon read_icon(const std::string& path) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    if (png_image_begin_read_from_file(&image, path.c_str()) == 0)
        return {};
    image.format = PNG_FORMAT_RGBA;
    Icon icon{static_cast<int>(image.width), static_cast<int>(image.height), {}};
    icon.rgba.resize(PNG_IMAGE_SIZE(image));
    if (png_image_finish_read(&image, nullptr, icon.rgba.data(), 0, nullptr) == 0)
        return {};
    return icon;
}

} // namespace

int set_window_icon(GLFWwindow* window) {
    const std::string data = data_folder();
    std::vector<Icon> icons;
    for (const char* size : {"16x16", "32x32", "48x48", "128x128"})
        if (Icon icon = read_icon(data + "/icons/hicolor/" + size + "/apps/specklescope.png");
            !icon.rgba.empty())
            icons.push_back(std::move(icon));
    std::vector<GLFWimage> images;
    images.reserve(icons.size());
    for (Icon& icon : icons)
        images.push_back({icon.width, icon.height, icon.rgba.data()});
    if (!images.empty())
        glfwSetWindowIcon(window, static_cast<int>(images.size()), images.data());
    return static_cast<int>(images.size());
}

} // namespace specklescope
