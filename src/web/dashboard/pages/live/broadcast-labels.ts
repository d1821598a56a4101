import type { IngestTrack } from '../../api/api-types.ts';
import { codecName } from '../../format/codec-name.ts';
import { withUnit } from '../../format/with-unit.ts';
import { t } from '../../texts/live.ts';

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
    ...(width === undefined || height === undefined ? [] : [withUnit(width, `× ${height}`)]),
    ...(videoCodec === undefined ? [] : [codecName(videoCodec)]),
    ...(audioCodec === undefined ? [] : [audioLabel(codecName(audioCodec), audio?.codec)]),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}

function audioLabel(delivered: string, arriving: string | undefined): string {
  const isConverted = arriving !== undefined && arriving !== delivered;
  return isConverted ? t('past.converted', { codec: arriving, delivered }) : delivered;
}

const endReasons = {
  'publisher-stopped': 'endReason.publisherStopped',
  'publisher-gone': 'endReason.publisherGone',
  completed: 'endReason.completed',
  deleted: 'endReason.deleted',
  'account-suspended': 'endReason.accountSuspended',
  'sandbox-limit': 'endReason.sandboxLimit',
  'unsupported-codec': 'endReason.unsupportedCodec',
  'no-keyframe': 'endReason.noKeyframe',
  'no-media': 'endReason.noMedia',
  'limit-exceeded': 'endReason.limitExceeded',
  'picture-too-large': 'endReason.pictureTooLarge',
  'packager-failed': 'endReason.serverError',
  'server-stopped': 'endReason.serverStopped',
  'server-crashed': 'endReason.serverCrashed',
} as const;

export function formatEndReason(reason: string): string {
  return Object.hasOwn(endReasons, reason) ? t(endReasons[reason as keyof typeof endReasons]) : reason;
}
