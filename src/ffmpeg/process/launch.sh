#!/bin/sh
# Starts ffmpeg for fluent-ffmpeg, which takes the path of a program without arguments.
case "$1" in
  # Reports the process id, which the program keeps, and becomes the program.
  launch) shift; echo "pid $$" >&2; exec "$@" ;;
  # The same, with a copy of stderr as descriptor 3, for the description of the sandbox.
  isolate) shift; echo "pid $$" >&2; exec "$@" 3>&2 ;;
  # fluent-ffmpeg asks for formats and encoders before its first run. ffmpeg itself reports what it lacks, so that costs no process here.
  -formats) for format in flac image2 lavfi matroska mjpeg mp4 mpegts null rawvideo s16le segment srt webvtt; do echo " DE $format -"; done ;;
esac
