import type { IngestTrack } from '../../api/api-types.ts';
import { codecName } from '../../format/codec-name.ts';

export function formatMedia(media: {
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly videoCodec?: string | undefined;
  /** The codec that viewers get. */
  readonly audioCodec?: string | undefined;
  /** The tracks that arrive. */
  readonly tracks?: readonly IngestTrack[] | undefined;
}): string | undefined {
  const { width, height, videoCodec, audioCodec, tracks } = media;
  const audio = tracks?.find(({ kind, trackId }) => kind === 'audio' && trackId === 0);
  const parts = [
    ...(width === undefined || height === undefined ? [] : [`${width} × ${height}`]),
    ...(videoCodec === undefined ? [] : [codecName(videoCodec)]),
    ...(audioCodec === undefined ? [] : [audioLabel(codecName(audioCodec), audio?.codec)]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

function audioLabel(delivered: string, arriving: string | undefined): string {
  const isConverted = arriving !== undefined && arriving !== delivered;
  return isConverted ? `${arriving} (converted to ${delivered})` : delivered;
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
