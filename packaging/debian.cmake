# `cmake --build BUILD --target package` makes the .deb. dpkg-shlibdeps finds the linked libraries; those
# opened by name at run time are listed here.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME specklescope)
set(CPACK_PACKAGE_VENDOR "Specklescope")
set(CPACK_PACKAGE_CONTACT "The Specklescope authors") # no address: there is none
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Specklescope turns the speckle of a laser-lit scene into a live map of blood
flow, and filters live images: from GigE Vision, USB3 Vision and V4L2 cameras,
network streams, videos, TIFF stacks or a simulated scene. It computes on an
NVIDIA GPU if there is one, otherwise on the CPU, and records raw frames and
results without loss.")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# --- the packages: split like Debian's into program, library and plugin ---------------------------------------
# The library's package is named after its SONAME, so that two versions can be installed. Each package needs
# its copyright file and a changelog with the commit's date: components that cmake --install omits.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL "")
set(changelog ${CMAKE_CURRENT_BINARY_DIR}/changelog)

function(debian_package group name component section description depends recommends)
    string(TOUPPER ${group} upper)
    set(documents ${group}_documents)
    install(CODE "
        set(CPACK_SPECKLESCOPE_OUT \"${changelog}\")
        set(CPACK_SPECKLESCOPE_SOURCE \"${PROJECT_SOURCE_DIR}\")
        set(CPACK_PACKAGE_VERSION \"${PROJECT_VERSION}\")
        set(CPACK_PACKAGE_CONTACT \"${CPACK_PACKAGE_CONTACT}\")
        include(\"${CMAKE_CURRENT_SOURCE_DIR}/changelog.cmake\")
    " COMPONENT ${documents} EXCLUDE_FROM_ALL)
    install(FILES ${changelog}.gz DESTINATION share/doc/${name} COMPONENT ${documents} EXCLUDE_FROM_ALL)
    if(NOT component STREQUAL Unspecified) # included everywhere
        install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/copyright DESTINATION share/doc/${name} COMPONENT ${documents}
            EXCLUDE_FROM_ALL)
    endif()
    foreach(part ${component} ${documents})
        string(TOUPPER ${part} upper_part)
        list(APPEND CPACK_COMPONENTS_ALL ${part})
        set(CPACK_COMPONENT_${upper_part}_GROUP ${group} PARENT_SCOPE)
    endforeach()
    set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} PARENT_SCOPE)
    set(CPACK_COMPONENT_GROUP_${upper}_DESCRIPTION "${description}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "${recommends}" PARENT_SCOPE)
endfunction()

set(plugins "gstreamer1.0-plugins-bad, gstreamer1.0-plugins-ugly, gstreamer1.0-libav")
get_target_property(abi libspecklescope SOVERSION)
get_target_property(library_folder libspecklescope BINARY_DIR)
# where dpkg-shlibdeps finds the plugin's dependency
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${library_folder})
debian_package(program specklescope Unspecified science "${CPACK_DEBIAN_PACKAGE_DESCRIPTION}"
    "gstreamer1.0-plugins-base, gstreamer1.0-plugins-good, fonts-dejavu-core" "${plugins}, libgl1-mesa-dri")
debian_package(library libspecklescope${abi} library libs
"Stages, chains and sources of Specklescope behind a C interface: frames in,
maps of contrast and flow out, cameras and files as streams of results. It
computes on an NVIDIA GPU where there is one, on the CPU where there is none."
    "" "gstreamer1.0-plugins-base, gstreamer1.0-plugins-good, ${plugins}")
debian_package(development libspecklescope-dev development libdevel
"The header of libspecklescope, and what CMake and pkg-config find it by."
    "libspecklescope${abi} (= ${PROJECT_VERSION})" "")
debian_package(gstreamer gstreamer1.0-specklescope gstreamer libs
"The element specklescope of GStreamer: chains of stages in a pipeline, with
every parameter as a property; numbers, levels or colours come out."
    "libspecklescope${abi} (= ${PROJECT_VERSION})" "gstreamer1.0-tools")
# Programs linked with the library depend on its package; a trigger updates the linker's cache, as required by
# Debian's policy; CPack also calls ldconfig.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/shlibs "libspecklescope ${abi} libspecklescope${abi} (>= ${PROJECT_VERSION})\n")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/shlibs ${CMAKE_CURRENT_BINARY_DIR}/triggers)
include(CPack)
