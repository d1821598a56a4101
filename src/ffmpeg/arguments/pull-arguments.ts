import { encodedAudioRate } from './audio-encode-arguments.ts';

export interface PullArguments {
  readonly input: readonly string[];
  readonly url: string;
  /** Protocols that ffmpeg may use for whatever the source refers to. */
  readonly protocols: readonly string[];
  /** The source's audio does not fit into a transport stream. */
  readonly isAudioConverted: boolean;
  /** Begins with the first keyframe that has a decode time. */
  readonly isStartSkipped?: boolean;
}

/** Writes a transport stream to stdout, without encoding video. */
export function pullArguments(options: PullArguments): string[] {
  const { input, url, protocols, isAudioConverted, isStartSkipped = false } = options;
  // Resamples G.711, whose 8 kHz some players reject.
  const audio = isAudioConverted ? ['aac', '-ar', String(encodedAudioRate)] : ['copy'];
  return [
    ...['-hide_banner', '-nostats', '-nostdin', '-loglevel', 'error'],
    ...['-protocol_whitelist', protocols.join(','), '-fflags', '+genpts+discardcorrupt', ...input, '-i', url],
    ...['-map', '0:v:0?', '-map', '0:a:0?', '-c:v', 'copy', '-c:a', ...audio],
    ...(isStartSkipped ? ['-ss', '0.2'] : []),
    // One frame of audio per packet, at once: a broadcast waits for the later track.
    ...[
      '-f',
      'mpegts',
      '-muxdelay',
      '0',
      '-muxpreload',
      '0',
      '-pes_payload_size',
      '0',
      '-flush_packets',
      '1',
    ],
    'pipe:1',
  ];
}
