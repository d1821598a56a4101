import { call } from '../../api/client.ts';
import { isAbort, problemOf } from '../../api/problem.ts';
import { t } from '../../texts/server.ts';

export interface Media {
  readonly id: string;
  readonly name: string;
  readonly kind: 'video' | 'live';
}

const maxResults = 6;

export async function searchMedia(text: string, signal: AbortSignal): Promise<readonly Media[]> {
  const newest = { sortBy: 'createdAt', sortOrder: 'desc', pageSize: maxResults } as const;
  const [videos, streams] = await Promise.all([
    call('GET /videos', { query: { ...newest, title: text }, signal }),
    call('GET /live-streams', { query: { ...newest, name: text }, signal }),
  ]);
  return [
    ...streams.data.map(({ liveStreamId, name }) => mediaOf(liveStreamId, name)),
    ...videos.data.map(({ videoId, title }) => mediaOf(videoId, title)),
  ];
}

export function loadMedia(ids: readonly string[], signal: AbortSignal): Promise<readonly Media[]> {
  return Promise.all(ids.map(id => load(id, signal)));
}

async function load(id: string, signal: AbortSignal): Promise<Media> {
  try {
    if (isLive(id)) {
      const stream = await call('GET /live-streams/{liveStreamId}', { params: { liveStreamId: id }, signal });
      return mediaOf(id, stream.name);
    }
    return mediaOf(id, (await call('GET /videos/{videoId}', { params: { videoId: id }, signal })).title);
  } catch (error) {
    if (isAbort(error) || problemOf(error).status !== 404) throw error;
    return mediaOf(id, t(isLive(id) ? 'media.deletedStream' : 'media.deletedVideo'));
  }
}

function mediaOf(id: string, name: string): Media {
  return { id, name: name.trim() === '' ? id : name, kind: isLive(id) ? 'live' : 'video' };
}

function isLive(id: string): boolean {
  return id.startsWith('li');
}
