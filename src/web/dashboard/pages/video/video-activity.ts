import type { VideoStatus } from '../../api/api-types.ts';
import { codecName } from '../../format/codec-name.ts';
import { formatList } from '../../format/list.ts';
import { formatBytes } from '../../format/size.ts';
import type { AdditionalQuality, Quality, VideoState } from '../../format/video-state.ts';
import { t } from '../../texts/video.ts';

interface VideoActivity {
  readonly title: string;
  readonly text: string;
}

/** Describes what the server does with a video that cannot be played yet, or with the renditions of one that can. */
export function activityOf({ kind }: VideoState, { ingest, encoding }: VideoStatus): VideoActivity {
  switch (kind) {
    case 'empty':
      return {
        title: t('activity.empty'),
        text: t('activity.emptyText'),
      };
    case 'recording':
      return { title: t('activity.recording'), text: t('activity.recordingText') };
    case 'uploading':
      return {
        title: t('activity.uploading'),
        text: receivedText(ingest) ?? t('activity.uploadingText'),
      };
    case 'fetching':
      return {
        title: t('activity.importing'),
        text: t('activity.importingText'),
      };
    case 'processing':
      return {
        title: t('activity.processing'),
        text: t('activity.processingText'),
      };
    case 'encoding':
    case 'playable':
      return encodingActivity(encoding, kind === 'playable');
    case 'failed':
      return { title: t('activity.failed'), text: '' };
    case 'ready':
      return { title: t('activity.ready'), text: '' };
  }
}

export function failedRenditions({ qualities, additionalQualities = [] }: VideoStatus['encoding']): string[] {
  return [...qualities, ...additionalQualities]
    .filter(({ status }) => status === 'failed')
    .map(renditionName);
}

export function renditionName(one: Quality | AdditionalQuality): string {
  if ('codec' in one) return `${one.quality} ${codecName(one.codec)}`;
  return one.type === 'mp4' ? t('activity.mp4', { rendition: one.quality }) : one.quality;
}

function encodingActivity(
  { qualities, additionalQualities = [] }: VideoStatus['encoding'],
  isPlayable: boolean,
): VideoActivity {
  const all = [...qualities, ...additionalQualities];
  const current = all.filter(({ status }) => status === 'encoding').map(renditionName);
  const done = all.filter(({ status }) => status === 'encoded').length;
  const title =
    current.length === 0
      ? t('activity.toEncode')
      : t('activity.encoding', { renditions: formatList(current) });
  const count = t('activity.done', { done, total: all.length });
  const next = isPlayable ? t('activity.canWatch') : t('activity.firstDone');
  return { title, text: `${count} ${next}` };
}

function receivedText(ingest: VideoStatus['ingest']): string | undefined {
  const total = ingest?.receivedBytes[0]?.total ?? 0;
  if (ingest === undefined || total === 0) return undefined;
  const received = ingest.receivedBytes.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return t('activity.received', { received: formatBytes(received), total: formatBytes(total) });
}
