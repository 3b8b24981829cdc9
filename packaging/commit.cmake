cmake_minimum_required(VERSION 3.24)
# Writes OUT, a header with the commit of SOURCE; leaves the file unchanged if the commit is the same.
file(READ ${SOURCE}/packaging/archived_commit commit) # filled in by git archive
string(STRIP "${commit}" commit)
if(commit MATCHES "Format")
    execute_process(COMMAND git describe --always --dirty --exclude=* --abbrev=12 WORKING_DIRECTORY ${SOURCE}
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(failed)
        set(commit "unknown")
    endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "// Made at every build by packaging/commit.cmake.
#pragma once

namespace specklescope {
inline constexpr const char* kCommit = \"@commit@\";
} // namespace specklescope
" @ONLY)
