cmake_minimum_required(VERSION 3.24)
# Runs when a package is made: writes CPACK_SPECKLESCOPE_OUT.gz, its changelog.gz.
execute_process(COMMAND git log -1 --format=%aD WORKING_DIRECTORY ${CPACK_SPECKLESCOPE_SOURCE}
    OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT date)
    execute_process(COMMAND date -R OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
file(WRITE ${CPACK_SPECKLESCOPE_OUT} "specklescope (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Built from the sources of this version; docs/ there tells what is new.

 -- ${CPACK_PACKAGE_CONTACT} <>  ${date}
")
execute_process(COMMAND gzip -9nf ${CPACK_SPECKLESCOPE_OUT} COMMAND_ERROR_IS_FATAL ANY)
