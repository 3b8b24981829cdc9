#!/bin/sh
# docs/images/traces.png: three regions of the simulated vessels, an event and a baseline, on a virtual screen.
# Usage: docs/images/traces.sh PROGRAM OUT.png; needs Xvfb, xdotool and ImageMagick.
set -eu
program=$1 out=$2
folder=$(mktemp -d)
mkfifo "$folder/number"
cat >"$folder/regions.json" <<'JSON'
{"regions":[{"name":"artery","shape":"polygon","points":[[188,262],[206,262],[198,440],[178,440]]},
{"name":"tissue","shape":"ellipse","points":[[30,320],[160,440]]},
{"name":"branches","shape":"rectangle","points":[[280,80],[400,190]]}]}
JSON
number=$((100 + $$ % 50000))
Xvfb ":$number" -displayfd 7 -screen 0 1280x800x24 -nolisten tcp -noreset 7>"$folder/number" 2>/dev/null &
server=$!
read -r number <"$folder/number" # when it is ready
export DISPLAY=":$number" SPECKLESCOPE_UI_PROBE="$folder/probe.json"
"$program" 'synthetic:vessels?width=640&height=480&rate=40' --no-remember --preset flow \
    --regions "$folder/regions.json" --view width=1280 --view height=800 &
viewer=$!
trap 'kill $viewer $server 2>/dev/null || true; rm -rf "$folder"' EXIT
until grep -q '"chain"' "$SPECKLESCOPE_UI_PROBE" 2>/dev/null; do sleep 0.5; done
sleep 8
xdotool key z
sleep 2
xdotool key e
sleep 3
xdotool key percent
sleep 4 # messages fade
xdotool mousemove 620 680
sleep 1
import -window root "$out"
xdotool key ctrl+q
wait $viewer
