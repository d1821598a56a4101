import { call } from '../../api/client.ts';
import { localUrl } from '../../format/local-url.ts';
import type { Size } from './placement.ts';

export interface Backdrop {
  readonly id: string;
  readonly label: string;
  readonly size: Size;
  readonly image?: string;
}

const fullHd: Size = { width: 1_920, height: 1_080 };

export const plainBackdrops: readonly Backdrop[] = [
  { id: '1080p', label: 'Landscape, 1920 × 1080', size: fullHd },
  { id: '720p', label: 'Landscape, 1280 × 720', size: { width: 1_280, height: 720 } },
  { id: '2160p', label: 'Landscape, 3840 × 2160', size: { width: 3_840, height: 2_160 } },
  { id: 'portrait', label: 'Portrait, 1080 × 1920', size: { width: 1_080, height: 1_920 } },
];

export async function loadVideos(signal: AbortSignal): Promise<{ videoId: string; title: string }[]> {
  const { data } = await call('GET /videos', {
    query: { sortBy: 'createdAt', sortOrder: 'desc', pageSize: 20 },
    signal,
  });
  return data.filter(({ assets }) => assets !== null).map(({ videoId, title }) => ({ videoId, title }));
}

export async function loadBackdrop(videoId: string, signal: AbortSignal): Promise<Backdrop> {
  const [{ title, assets }, { encoding }] = await Promise.all([
    call('GET /videos/{videoId}', { params: { videoId }, signal }),
    call('GET /videos/{videoId}/status', { params: { videoId }, signal }),
  ]);
  const { width, height } = encoding.metadata ?? {};
  return {
    id: videoId,
    label: title,
    size: width && height ? { width, height } : fullHd,
    ...(assets === null ? {} : { image: localUrl(assets.thumbnail) }),
  };
}
