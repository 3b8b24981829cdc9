"""The installed library is found by pkg-config and by CMake, its header is C99 and C++, its examples run:
library_test.py PREFIX CMAKE EXAMPLES"""
import ctypes
import glob
import os
import subprocess
import sys

from support import expect, run, temporary_home

prefix, cmake, examples = sys.argv[1:]
libdir = os.path.dirname(glob.glob(f"{prefix}/lib*/**/libspecklescope.so", recursive=True)[0])
found = {**os.environ, "PKG_CONFIG_PATH": f"{libdir}/pkgconfig"}
flags = subprocess.run(["pkg-config", "--cflags", "--libs", "specklescope"], env=found, check=True, capture_output=True,
                       text=True).stdout.split()
STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror"]

with temporary_home() as home:
    def compile_one(*words):
        run(list(words) + flags + [f"-Wl,-rpath,{libdir}"], home, PATH=os.environ["PATH"])

    for standard in ("c99", "c17"):
        for name in ("contrast", "stream"):
            compile_one("gcc", f"-std={standard}", *STRICT, f"{examples}/{name}.c", "-o", f"{home}/{name}")
    with open(f"{home}/header.cpp", "w") as file:
        file.write("#include <specklescope.h>\nint main() { return specklescope_version()[0] == '0' ? 0 : 1; }\n")
    compile_one("g++", "-std=c++11", *STRICT, f"{home}/header.cpp", "-o", f"{home}/header")
    run([f"{home}/header"], home)

    # White noise over 200 levels from 1000: K is its standard deviation over its mean.
    contrast = float(run([f"{home}/contrast"], home).split()[2])
    expect(0.03 < contrast < 0.08, f"K = {contrast}, and 57.7 / 1100 = 0.052 was put in")

    lines = run([f"{home}/stream", "synthetic:vessels?width=64&height=48&live=false&frames=5"], home).splitlines()
    expect(lines[:1] == ["frame 0: 64 x 48, SFI in 1/s"] and len(lines) == 5, lines)
    run([f"{home}/stream", "no/such/file.tiff"], home, status=1)

    # The three functions, loaded as LabVIEW does, from a library of plain functions.
    compile_one("gcc", "-std=c99", *STRICT, "-shared", "-fPIC", f"{examples}/flow_trio.c", "-o", f"{home}/libflow.so")
    trio = ctypes.CDLL(f"{home}/libflow.so")
    width, height = 96, 64
    frame = (ctypes.c_uint16 * (width * height))(*[1000 + (x * 7919) % 101 for x in range(width * height)])
    flow = (ctypes.c_float * (width * height))()
    expect(trio.flow_init(width, height, 3, ctypes.c_double(10)) == 0, "flow_init")
    expect(trio.flow_process(frame, flow) == 0 and flow[width * 32 + 48] > 0, "flow_process")
    ten = flow[width * 32 + 48]
    expect(trio.flow_init(width, height, 3, ctypes.c_double(5)) == 0, "flow_init once more")
    expect(trio.flow_process(frame, flow) == 0, "flow_process")
    expect(abs(flow[width * 32 + 48] / ten - 2) < 1e-5, "1/(2TK²): half the exposure, twice the index")
    expect(trio.flow_init(width, height, 99, ctypes.c_double(10)) == 2, "a radius that is not possible")
    sentence = ctypes.create_string_buffer(500)
    trio.flow_error(sentence, 500)
    expect(b"radius = 99 is not possible" in sentence.value, sentence.value)
    expect(trio.flow_process(frame, flow) == 3, "after a beginning that failed")
    expect(trio.flow_term() == 0 and trio.flow_term() == 0, "flow_term")

    with open(f"{home}/CMakeLists.txt", "w") as file:
        file.write("cmake_minimum_required(VERSION 3.24)\nproject(client LANGUAGES C)\n"
                   "find_package(specklescope 0.1 REQUIRED)\n"
                   f"add_executable(client {examples}/contrast.c)\n"
                   "target_link_libraries(client PRIVATE specklescope::specklescope)\n")
    run([cmake, "-S", home, "-B", f"{home}/build", f"-DCMAKE_PREFIX_PATH={prefix}"], home)
    run([cmake, "--build", f"{home}/build"], home)
    run([f"{home}/build/client"], home)
