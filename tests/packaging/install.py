"""cmake --install into an empty folder, which is then moved: install.py CMAKE BUILD PREFIX"""
import os
import shutil
import subprocess
import sys

cmake, build, prefix = sys.argv[1:]
first = os.path.join(os.path.dirname(os.path.dirname(prefix)), "first")
for folder in (first, os.path.dirname(prefix)):
    shutil.rmtree(folder, ignore_errors=True)
subprocess.run([cmake, "--install", build, "--prefix", first], check=True, stdout=subprocess.DEVNULL)
os.makedirs(os.path.dirname(prefix))
os.rename(first, prefix)
