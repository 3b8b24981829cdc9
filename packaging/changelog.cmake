cmake_minimum_required(VERSION 3.24)
# Run by CPack in the folder that becomes the package: /usr/share/doc/specklescope/changelog.gz.
execute_process(COMMAND git log -1 --format=%aD WORKING_DIRECTORY ${CPACK_SPECKLESCOPE_SOURCE}
    OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT date)
    execute_process(COMMAND date -R OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(folder $ENV{DESTDIR}${CPACK_PACKAGING_INSTALL_PREFIX}/share/doc/specklescope)
file(WRITE ${folder}/changelog "specklescope (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Built from the sources of this version; docs/ there tells what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
execute_process(COMMAND gzip -9nf ${folder}/changelog COMMAND_ERROR_IS_FATAL ANY)
