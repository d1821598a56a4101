import { call } from '../../../api/client.ts';

/** Kinds of WebVTT files that a video has, each in several languages. */
export type TrackKind = 'captions' | 'chapters';

/** Uploads WebVTT or SubRip for a language, in place of the file that is there. @throws ApiProblem */
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

/** Removes the file of a language. @throws ApiProblem */
export async function removeTrack(kind: TrackKind, videoId: string, language: string): Promise<void> {
  const input = { params: { videoId, language } };
  if (kind === 'captions') await call('DELETE /videos/{videoId}/captions/{language}', input);
  else await call('DELETE /videos/{videoId}/chapters/{language}', input);
}

/** Has the browser save what is under an address. */
export function saveFile(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}
