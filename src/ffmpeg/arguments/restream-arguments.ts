/** Where ffmpeg connects to, and what it says there. */
export interface RestreamAddress {
  /** Port of loopback: ffmpeg is never given a name to resolve, since the embedded build crashes of it. */
  readonly port: number;
  readonly tcUrl: string;
  readonly app: string;
  readonly playPath: string;
}

/**
 * Arguments that publish FLV from stdin over RTMP, with nothing encoded anew. Everybody on the machine can read them: they hold
 * no key.
 */
export function restreamArguments({ port, tcUrl, app, playPath }: RestreamAddress): string[] {
  return [
    ...['-hide_banner', '-nostats', '-loglevel', 'warning', '-threads', '1'],
    ...['-analyzeduration', '1000', '-probesize', '32768', '-f', 'flv', '-i', 'pipe:0'],
    ...['-map', '0', '-c', 'copy'],
    // A track that falls silent holds the other one back for this many microseconds, 10 s unless told.
    ...['-max_interleave_delta', '500000', '-flush_packets', '1'],
    ...['-f', 'flv', '-flvflags', 'no_duration_filesize'],
    ...['-rtmp_tcurl', tcUrl, '-rtmp_app', app, '-rtmp_playpath', playPath, `rtmp://127.0.0.1:${port}/`],
  ];
}
