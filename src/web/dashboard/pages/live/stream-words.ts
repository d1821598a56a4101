import type { BroadcastStats } from './broadcast-stats.ts';

/** How it stands with a live stream. `waiting`: its publisher is gone and may come back. */
export type StreamState = 'live' | 'waiting' | 'off';

/** State of a live stream: what the feed says of it, or what was loaded while the feed says nothing. */
export function streamStateOf(isBroadcasting: boolean, stats: BroadcastStats | undefined): StreamState {
  return stats?.state ?? (isBroadcasting ? 'live' : 'off');
}

const codecNames: readonly (readonly [prefix: string, name: string])[] = [
  ['avc', 'H.264'],
  ['hvc', 'HEVC'],
  ['hev', 'HEVC'],
  ['av01', 'AV1'],
  ['vp09', 'VP9'],
  ['mp4a.40.34', 'MP3'],
  ['mp4a.6b', 'MP3'],
  ['mp4a', 'AAC'],
  ['opus', 'Opus'],
];

/** Name that people know a codec by. @param codec as RFC 6381 names it */
export function codecName(codec: string): string {
  const folded = codec.toLowerCase();
  return codecNames.find(([prefix]) => folded.startsWith(prefix))?.[1] ?? codec;
}

/** Picture and sound in words, such as `1280 × 720, H.264, AAC`; undefined while nothing is known. */
export function mediaWords(media: {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly videoCodec?: string | undefined;
  readonly audioCodec?: string | undefined;
}): string | undefined {
  const { width, height, videoCodec, audioCodec } = media;
  const parts = [
    ...(width === undefined || height === undefined ? [] : [`${width} × ${height}`]),
    ...(videoCodec === undefined ? [] : [codecName(videoCodec)]),
    ...(audioCodec === undefined ? [] : [codecName(audioCodec)]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

const endWords: Readonly<Record<string, string>> = {
  'publisher-gone': 'The encoder stopped',
  completed: 'Ended here or by the API',
  deleted: 'The live stream was deleted',
  'account-suspended': 'The account was suspended',
  'sandbox-limit': 'The sandbox’s 30 minutes were over',
  'unsupported-codec': 'The encoder sent what cannot be delivered',
  'no-keyframe': 'No keyframe came',
  'no-media': 'Nothing came',
  'limit-exceeded': 'The encoder sent too much',
  'packager-failed': 'An error of the server',
  'server-stopped': 'The server was stopped',
  'server-crashed': 'The server crashed',
};

/** Why a broadcast ended, in words. */
export function endReasonWords(reason: string): string {
  return endWords[reason] ?? reason;
}
