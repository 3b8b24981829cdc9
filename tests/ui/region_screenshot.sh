#!/bin/sh
# The picture of regions in the guide: each shape drawn with the mouse on the simulated vessels, one selected.
# Usage: tests/ui/region_screenshot.sh PROGRAM OUT.png [WIDTHxHEIGHT]; needs Xvfb, xdotool and ImageMagick.
set -eu
program=$1 out=$2 size=${3:-1280x800}
folder=$(mktemp -d)
mkfifo "$folder/number"
number=$((100 + $$ % 50000))
Xvfb ":$number" -displayfd 7 -screen 0 "${size}x24" -nolisten tcp -noreset 7>"$folder/number" 2>/dev/null &
server=$!
read -r number <"$folder/number" # when it is ready
export DISPLAY=":$number" SPECKLESCOPE_UI_PROBE="$folder/probe.json"
"$program" 'synthetic:vessels?rate=10' --no-remember --preset flow --view "width=${size%x*}" --view "height=${size#*x}" &
viewer=$!
trap 'kill $viewer $server 2>/dev/null || true; rm -rf "$folder"' EXIT
value() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$SPECKLESCOPE_UI_PROBE" 2>/dev/null; }
until [ -n "$(value chain)" ] || [ -n "$(value image.scale)" ]; do sleep 0.5; done
sleep 3
# Picture pixels to the screen: the whole picture is in view.
at() { awk "BEGIN { printf \"%d %d\", $(value image.x) + ($1 + 0.5) * $(value image.scale), $(value image.y) + ($2 + 0.5) * $(value image.scale) }"; }
# Waits until the window has as many regions.
drawn() { until [ "$(value regions.count)" = "$1.0" ]; do sleep 0.2; done; }
drag() {
    xdotool mousemove $(at "$1" "$2") sleep 0.5 mousedown 1
    shift 2
    while [ $# -gt 0 ]; do
        xdotool mousemove $(at "$1" "$2") sleep 0.3
        shift 2
    done
    xdotool mouseup 1
}
xdotool key b
drag 560 90 640 150 700 190
drawn 1
xdotool key c
drag 860 420 960 520 1040 560
drawn 2
xdotool key g
for corner in '190 330' '320 300' '380 420' '300 520' '200 470'; do
    xdotool mousemove $(at $corner) sleep 0.5 click 1 sleep 0.4
done
xdotool key Return
drawn 3
xdotool key d
drag 480 700 500 660 560 640 640 650 680 690 660 740 600 765 530 760 490 735
drawn 4
xdotool key l
drag 330 860 400 850 470 840
drawn 5
xdotool key Escape
xdotool mousemove $(at 950 490) sleep 0.5 click 1 sleep 8 # the messages of the start have gone
import -window root "$out"
xdotool key ctrl+q
wait $viewer
