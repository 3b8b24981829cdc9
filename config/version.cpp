#include "config/version.hpp"

#include "config/data_folder.hpp"
#include "config/text.hpp"
#include "have_cairo.hpp"
#include "have_cuda.hpp"
#include "have_egl.hpp"
#include "have_exr.hpp"
#include "have_hdf5.hpp"
#include "have_matio.hpp"
#include "net/metrics/metrics.hpp"
#include "net/outlet.hpp"
#include "net/publisher.hpp"

#include <CLI/Version.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/version.h>
#include <toml++/toml.h>

namespace specklescope {

namespace {

std::string commit = "unknown"; // NOLINT: set once, before anything else runs

std::string number(int major, int minor, int patch) {
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::string compiler() {
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

std::string build() {
    std::string text = SPECKLESCOPE_BUILD_TYPE;
#ifdef NDEBUG
    text += ", without assertions";
#else
    text += ", with assertions";
#endif
    const char* const sanitizers = SPECKLESCOPE_SANITIZERS;
    return *sanitizers == '\0' ? text : text + ", sanitizers " + sanitizers;
}

std::string cuda() {
#ifdef SPECKLESCOPE_HAVE_CUDA
    return "yes, for " SPECKLESCOPE_CUDA_CODE;
#else
    return "no";
#endif
}

/// Draws a window without a display.
std::string egl() {
#ifdef SPECKLESCOPE_HAVE_EGL
    return SPECKLESCOPE_HAVE_EGL;
#else
    return "no";
#endif
}

std::string open_exr() {
#ifdef SPECKLESCOPE_HAVE_EXR
    return SPECKLESCOPE_HAVE_EXR;
#else
    return "no";
#endif
}

std::string hdf5() {
#ifdef SPECKLESCOPE_HAVE_HDF5
    return SPECKLESCOPE_HAVE_HDF5;
#else
    return "no";
#endif
}

std::string matio() {
#ifdef SPECKLESCOPE_HAVE_MATIO
    return SPECKLESCOPE_HAVE_MATIO;
#else
    return "no";
#endif
}

/// Draws reports, and marks on movies.
std::string pango() {
#ifdef SPECKLESCOPE_HAVE_CAIRO
    return SPECKLESCOPE_HAVE_CAIRO;
#else
    return "no";
#endif
}

std::string place_of(const std::string& file) {
    if (file.empty())
        return "not installed";
    return file.starts_with('/') ? file : "not installed; " + file + " of the build";
}

std::string libraries() {
    return join({"GStreamer " SPECKLESCOPE_GSTREAMER_VERSION, "Aravis " SPECKLESCOPE_ARAVIS_VERSION,
                 "libtiff " SPECKLESCOPE_TIFF_VERSION, "Highway " SPECKLESCOPE_HIGHWAY_VERSION,
                 "oneTBB " SPECKLESCOPE_TBB_VERSION, "Dear ImGui " SPECKLESCOPE_IMGUI_VERSION,
                 "CLI11 " CLI11_VERSION,
                 "spdlog " + number(SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH),
                 "toml++ " + number(TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH),
                 "nlohmann-json " + number(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                           NLOHMANN_JSON_VERSION_PATCH)});
}

} // namespace

void set_build_commit(std::string text) { commit = std::move(text); }

std::vector<std::pair<std::string, std::string>> version_rows() {
    const std::string data = data_folder();
    return {{"version", SPECKLESCOPE_VERSION},
            {"commit", commit},
            {"build", build()},
            {"CUDA backend", cuda()},
            {"ZeroMQ", zeromq_version().empty() ? "no" : zeromq_version()},
            {"EGL", egl()},
            {"RTSP server", rtsp_server_version().empty() ? "no" : rtsp_server_version()},
            {"libmicrohttpd", microhttpd_version().empty() ? "no" : microhttpd_version()},
            {"OpenEXR", open_exr()},
            {"HDF5", hdf5()},
            {"matio", matio()},
            {"Pango", pango()},
            {"compiler", compiler()},
            {"libraries", libraries()},
            {"C library", place_of(library_file())},
            {"element", place_of(element_file())},
            {"data", data.empty() ? "compiled in; not installed" : data},
            {"use", "for research; not a medical device"}};
}

std::string version_text() {
    std::string out;
    for (const auto& [name, value] : version_rows())
        out += out.empty() ? "specklescope " + value + "\n" : row(name, value, 14);
    return out;
}

} // namespace specklescope
