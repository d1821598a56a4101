import { codecName } from '../../format/codec-name.ts';

/** Formats media such as `1280 × 720, H.264, AAC`; undefined if nothing is known. */
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
  completed: 'Ended here or by the API',
  deleted: 'The live stream was deleted',
  'account-suspended': 'The account was suspended',
  'sandbox-limit': 'The sandbox’s 30 minutes were over',
  'unsupported-codec': 'The encoder sent what cannot be delivered',
  'no-keyframe': 'No keyframe came',
  'no-media': 'Nothing came',
  'limit-exceeded': 'The encoder sent too much',
  'picture-too-large': 'The picture was too large',
  'packager-failed': 'An error of the server',
  'server-stopped': 'The server was stopped',
  'server-crashed': 'The server crashed',
};

export function formatEndReason(reason: string): string {
  return endReasons[reason] ?? reason;
}
