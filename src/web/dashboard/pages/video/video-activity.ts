import type { VideoStatus } from '../../api/api-types.ts';
import { codecName } from '../../format/codec-name.ts';
import { formatBytes, formatNumber } from '../../format/size.ts';
import type { AdditionalQuality, Quality, VideoState } from '../../format/video-state.ts';

interface VideoActivity {
  readonly title: string;
  readonly text: string;
}

/** Describes what the server does with a video that cannot be played yet, or with the renditions of one that can. */
export function activityOf({ kind }: VideoState, { ingest, encoding }: VideoStatus): VideoActivity {
  switch (kind) {
    case 'empty':
      return {
        title: 'No file uploaded yet',
        text: 'The links of this video already work. It plays as soon as its file is uploaded.',
      };
    case 'recording':
      return { title: 'Recording', text: 'It can be played shortly after the broadcast ends.' };
    case 'uploading':
      return {
        title: 'Uploading',
        text: receivedText(ingest) ?? 'The video can be played shortly after its file has arrived.',
      };
    case 'fetching':
      return {
        title: 'Importing',
        text: 'The server downloads the file. The video can be played shortly after it has arrived.',
      };
    case 'processing':
      return {
        title: 'Processing',
        text: 'The server reads the format, length and tracks of the file. Then it plays or is encoded.',
      };
    case 'encoding':
    case 'playable':
      return encodingActivity(encoding, kind === 'playable');
    case 'failed':
      return { title: 'Processing failed', text: '' };
    case 'ready':
      return { title: 'Ready', text: '' };
  }
}

export function failedRenditions({ qualities, additionalQualities = [] }: VideoStatus['encoding']): string[] {
  return [...qualities, ...additionalQualities]
    .filter(({ status }) => status === 'failed')
    .map(renditionName);
}

export function renditionName(one: Quality | AdditionalQuality): string {
  if ('codec' in one) return `${one.quality} ${codecName(one.codec)}`;
  return one.type === 'mp4' ? `${one.quality} MP4 download` : one.quality;
}

function encodingActivity(
  { qualities, additionalQualities = [] }: VideoStatus['encoding'],
  isPlayable: boolean,
): VideoActivity {
  const all = [...qualities, ...additionalQualities];
  const current = all.filter(({ status }) => status === 'encoding').map(renditionName);
  const done = all.filter(({ status }) => status === 'encoded').length;
  const title = current.length === 0 ? 'Waiting to encode' : `Encoding ${current.join(', ')}`;
  const count = `${formatNumber(done)} of ${formatNumber(all.length)} renditions ${done === 1 ? 'is' : 'are'} done.`;
  const next = isPlayable
    ? 'Viewers can already watch.'
    : 'The video appears here as soon as the first one is done.';
  return { title, text: `${count} ${next}` };
}

function receivedText(ingest: VideoStatus['ingest']): string | undefined {
  const total = ingest?.receivedBytes[0]?.total ?? 0;
  if (ingest === undefined || total === 0) return undefined;
  const received = ingest.receivedBytes.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return `${formatBytes(received)} of ${formatBytes(total)} have arrived.`;
}
