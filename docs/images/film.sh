#!/bin/sh
# docs/images/film.png: a recording as a film between two marks, a line across a vessel selected, on a virtual screen.
# Usage: docs/images/film.sh PROGRAM OUT.png; needs Xvfb, xdotool and ImageMagick.
set -eu
program=$1 out=$2
folder=$(mktemp -d)
mkfifo "$folder/number"
cat >"$folder/regions.json" <<'JSON'
{"regions":[{"name":"across","shape":"line","points":[[150,430],[215,430]]},
{"name":"tissue","shape":"ellipse","points":[[30,320],[130,440]]}]}
JSON
"$program" run 'synthetic:vessels?width=640&height=480&rate=40&live=false' --frames 400 --quiet --record-raw "$folder/session.tiff"
number=$((100 + $$ % 50000))
Xvfb ":$number" -displayfd 7 -screen 0 1280x800x24 -nolisten tcp -noreset 7>"$folder/number" 2>/dev/null &
server=$!
read -r number <"$folder/number" # when it is ready
export DISPLAY=":$number" SPECKLESCOPE_UI_PROBE="$folder/probe.json"
"$program" "$folder/session.tiff" --no-remember --preset flow --loop --regions "$folder/regions.json" \
    --view width=1280 --view height=800 &
viewer=$!
trap 'kill $viewer $server 2>/dev/null || true; rm -rf "$folder"' EXIT
value() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$SPECKLESCOPE_UI_PROBE" 2>/dev/null; }
until [ -n "$(value image.scale)" ]; do sleep 0.5; done
sleep 6
# The middle of the line, from pixels of the picture to the screen: a click selects it.
xdotool mousemove $(awk "BEGIN { printf \"%d %d\", $(value image.x) + 183 * $(value image.scale), $(value image.y) + 430.5 * $(value image.scale) }") click 1
sleep 3
import -window root "$out"
xdotool key ctrl+q
wait $viewer
