#!/bin/sh
# The picture in the README: the rat-cortex image in the viewer, on a virtual screen of 1440×900.
# Usage: tests/ui/screenshot.sh PROGRAM IMAGE OUT.png; needs Xvfb, xdotool and ImageMagick.
set -eu
program=$1 image=$2 out=$3
folder=$(mktemp -d)
mkfifo "$folder/number"
number=$((100 + $$ % 50000))
Xvfb ":$number" -displayfd 7 -screen 0 1440x900x24 -nolisten tcp -noreset 7>"$folder/number" 2>/dev/null &
server=$!
read -r number <"$folder/number" # when it is ready
export DISPLAY=":$number" SPECKLESCOPE_UI_PROBE="$folder/probe.json"
"$program" "$image" --no-remember --preset flow &
viewer=$!
trap 'kill $viewer $server 2>/dev/null || true; rm -rf "$folder"' EXIT
until grep -q '"chain"' "$SPECKLESCOPE_UI_PROBE" 2>/dev/null; do sleep 0.5; done
xdotool mousemove 640 560 # the value under the mouse
sleep 10                  # rates, the automatic range and the start's messages come to rest
import -window root "$out"
xdotool key ctrl+q
wait $viewer
