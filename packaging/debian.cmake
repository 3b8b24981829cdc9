# `cmake --build BUILD --target package` makes the .deb; dpkg-shlibdeps finds what the program is linked with, and
# what it opens by name while running is named here.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME specklescope)
set(CPACK_PACKAGE_VENDOR "Specklescope")
set(CPACK_PACKAGE_CONTACT "Specklescope maintainers <maintainers@specklescope.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Specklescope turns the speckle of a laser-lit scene into a live map of blood
 flow, and filters live pictures on the way: from GigE Vision, USB3 Vision and
 V4L2 cameras, network streams, videos, TIFF stacks or a simulated scene. It
 computes on an NVIDIA GPU where there is one, on the CPU where there is none,
 and records raw frames and results without loss.")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "gstreamer1.0-plugins-base, gstreamer1.0-plugins-good, fonts-dejavu-core")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "gstreamer1.0-plugins-bad, gstreamer1.0-plugins-ugly, gstreamer1.0-libav, libgl1-mesa-dri")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};${PROJECT_NAME};Unspecified;/") # the program, not the library
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
# A Debian package wants its own changelog, dated as the commit.
set(CPACK_INSTALL_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/changelog.cmake)
set(CPACK_SPECKLESCOPE_SOURCE ${PROJECT_SOURCE_DIR})
include(CPack)
