import type { Size } from '../../../../shared/limits/watermark-placement.ts';
import { call } from '../../api/client.ts';
import { localUrl } from '../../format/local-url.ts';
import { t } from '../../texts/players.ts';

export interface Backdrop {
  readonly id: string;
  readonly size: Size;
  readonly image?: string;
}

const fullHd: Size = { width: 1_920, height: 1_080 };

export const plainBackdrops: readonly Backdrop[] = [
  { id: '1080p', size: fullHd },
  { id: '720p', size: { width: 1_280, height: 720 } },
  { id: '2160p', size: { width: 3_840, height: 2_160 } },
  { id: 'portrait', size: { width: 1_080, height: 1_920 } },
];

export function backdropLabel({ size }: Backdrop): string {
  const values = { width: String(size.width), height: String(size.height) };
  return size.width > size.height ? t('backdrop.landscape', values) : t('backdrop.portrait', values);
}

export async function loadVideos(signal: AbortSignal): Promise<{ videoId: string; title: string }[]> {
  const { data } = await call('GET /videos', {
    query: { sortBy: 'createdAt', sortOrder: 'desc', pageSize: 20 },
    signal,
  });
  return data.filter(({ assets }) => assets !== null).map(({ videoId, title }) => ({ videoId, title }));
}

export async function loadBackdrop(videoId: string, signal: AbortSignal): Promise<Backdrop> {
  const [{ assets }, { encoding }] = await Promise.all([
    call('GET /videos/{videoId}', { params: { videoId }, signal }),
    call('GET /videos/{videoId}/status', { params: { videoId }, signal }),
  ]);
  const { width, height } = encoding.metadata ?? {};
  return {
    id: videoId,
    size: width && height ? { width, height } : fullHd,
    ...(assets === null ? {} : { image: localUrl(assets.thumbnail) }),
  };
}
