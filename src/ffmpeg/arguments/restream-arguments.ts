interface RestreamAddress {
  /** On loopback: ffmpeg resolves no names, which crashes the embedded build. */
  readonly port: number;
  readonly tcUrl: string;
  readonly app: string;
  readonly playPath: string;
}

/** The arguments hold no stream key: every local user can read them. */
export function restreamArguments({ port, tcUrl, app, playPath }: RestreamAddress): string[] {
  return [
    ...['-hide_banner', '-nostats', '-loglevel', 'warning', '-threads', '1'],
    ...['-analyzeduration', '1000', '-probesize', '32768', '-f', 'flv', '-i', 'pipe:0'],
    ...['-map', '0', '-c', 'copy'],
    // Microseconds that a silent track delays the other one; 10 s by default.
    ...['-max_interleave_delta', '500000', '-flush_packets', '1'],
    ...['-f', 'flv', '-flvflags', 'no_duration_filesize'],
    ...['-rtmp_tcurl', tcUrl, '-rtmp_app', app, '-rtmp_playpath', playPath, `rtmp://127.0.0.1:${port}/`],
  ];
}
