#!/bin/sh
# Makes a small film to play: twelve seconds, three renditions one after another (320x180, 640x360, 480x270), with sound,
# in one MPEG transport stream. Byte for byte the same each time with the same ffmpeg.
# Usage: scripts/make-sample.sh OUTPUT.ts
set -eu

output=${1:?"usage: $0 OUTPUT.ts"}
[ -s "$output" ] && exit 0
mkdir -p "$(dirname "$output")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rendition() { # NUMBER SIZE RATE
    ffmpeg -nostdin -loglevel error -y \
        -f lavfi -i "testsrc2=size=$2:rate=25:duration=4" -f lavfi -i "sine=frequency=440:sample_rate=48000:duration=4" \
        -output_ts_offset "$(( ($1 - 1) * 4 ))" \
        -c:v libx264 -preset veryfast -threads 1 -g 25 -bf 0 -b:v "$3" -pix_fmt yuv420p -c:a aac -b:a 64k -ac 1 \
        -metadata:s:a:0 language=eng -muxrate 1500k -muxdelay 0 -muxpreload 0 \
        -fflags +bitexact -flags:v +bitexact -flags:a +bitexact -f mpegts "$work/$1.ts"
}
rendition 1 320x180 200k
rendition 2 640x360 600k
rendition 3 480x270 400k
cat "$work/1.ts" "$work/2.ts" "$work/3.ts" > "$work/sample.ts"
mv "$work/sample.ts" "$output"
