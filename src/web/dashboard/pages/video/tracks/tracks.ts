import { call } from '../../../api/client.ts';

export type TrackKind = 'captions' | 'chapters';

export async function sendTrack(
  kind: TrackKind,
  videoId: string,
  language: string,
  content: string | File,
): Promise<void> {
  const body = new FormData();
  body.set('file', new File([content], `${language}.vtt`, { type: 'text/vtt' }));
  const input = { params: { videoId, language }, body };
  if (kind === 'captions') await call('POST /videos/{videoId}/captions/{language}', input);
  else await call('POST /videos/{videoId}/chapters/{language}', input);
}

export async function removeTrack(kind: TrackKind, videoId: string, language: string): Promise<void> {
  const input = { params: { videoId, language } };
  if (kind === 'captions') await call('DELETE /videos/{videoId}/captions/{language}', input);
  else await call('DELETE /videos/{videoId}/chapters/{language}', input);
}
