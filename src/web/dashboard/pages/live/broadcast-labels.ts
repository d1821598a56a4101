import { codecName } from '../../format/codec-name.ts';

export function formatMedia(media: {
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

const endReasons: Readonly<Record<string, string>> = {
  'publisher-stopped': 'The encoder stopped',
  'publisher-gone': 'The encoder’s connection was lost',
  completed: 'Ended from the dashboard or API',
  deleted: 'The live stream was deleted',
  'account-suspended': 'The account was suspended',
  'sandbox-limit': 'The sandbox limit of 30 minutes was reached',
  'unsupported-codec': 'The codec is not supported',
  'no-keyframe': 'No keyframe was received',
  'no-media': 'No media was received',
  'limit-exceeded': 'The encoder exceeded a limit',
  'picture-too-large': 'The resolution was too high',
  'packager-failed': 'Server error',
  'server-stopped': 'The server was stopped',
  'server-crashed': 'The server crashed',
};

export function formatEndReason(reason: string): string {
  return endReasons[reason] ?? reason;
}
