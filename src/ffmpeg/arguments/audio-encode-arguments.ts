/** Rate of the AAC that {@link audioEncodeArguments} makes. */
export const encodedAudioRate = 48_000;

/**
 * Turns audio alone on stdin into stereo AAC in fragmented MP4 on descriptor 3, one fragment per frame, with the times of
 * the input. Without an edit list and `make_zero`, times count from 0 and not from the first frame. No trailer, as in
 * package-arguments.ts.
 */
export function audioEncodeArguments(format: 'flv' | 'mp4'): string[] {
  return [
    ...['-hide_banner', '-nostats', '-loglevel', 'warning', '-copyts', '-threads', '1'],
    // Headers say everything: with more to probe, ffmpeg waits for seconds of audio.
    ...['-analyzeduration', '1000', '-probesize', '32', '-f', format, '-i', 'pipe:0'],
    // Sets the layout for decoders that leave it unset (Speex of ffmpeg 5).
    ...['-map', '0:a:0', '-map_metadata', '-1', '-af', 'aformat=channel_layouts=stereo'],
    ...['-c:a', 'aac', '-b:a', '128k', '-ar', String(encodedAudioRate), '-f', 'mp4'],
    ...['-movflags', '+empty_moov+default_base_moof+frag_every_frame+skip_trailer+frag_discont'],
    ...['-use_editlist', '0', '-avoid_negative_ts', 'disabled', '-flush_packets', '1', 'pipe:3'],
  ];
}
