import { afterAll, beforeAll, expect, it } from 'vitest';
import { formWith } from '../support/images.ts';
import { startServer, type TestServer } from '../support/start-server.ts';

const origin = 'https://page.example';
const headersOfClients = [
  ...['authorization', 'content-type', 'content-range', 'x-token-session'],
  ...['av-origin-client', 'av-origin-app', 'av-origin-sdk'],
];

let server: TestServer;
let paths: Record<string, string>;
beforeAll(async () => {
  server = await startServer();
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into.
  const made = async (path: string, body: unknown): Promise<any> =>
    (await server.api('POST', path, body)).json();
  const { videoId } = await made('/videos', { title: 'Harbour' });
  const hidden = await made('/videos', { title: 'Hidden', public: false });
  const { liveStreamId } = await made('/live-streams', { name: 'Pier cam' });
  await fetch(`${server.baseUrl}/videos/${videoId}/captions/en`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${server.productionKey}:`)}` },
    body: formWith(['file', Buffer.from('WEBVTT\n'), 'en.vtt']),
  });
  paths = {
    api: '/videos',
    upload: '/upload',
    authentication: '/auth/refresh',
    nothing: '/no/such/path',
    'analytics intake': '/watch',
    'older intake': '/vod',
    'intake of live streams': '/live',
    playlist: `/vod/${videoId}/hls/manifest.m3u8`,
    mp4: `/vod/${videoId}/mp4/source.mp4`,
    thumbnail: `/vod/${videoId}/thumbnail.jpg`,
    captions: `/vod/${videoId}/captions/en.vtt`,
    'player page': `/vod/${videoId}`,
    'private thumbnail': new URL(hidden.assets.thumbnail).pathname,
    'private session': new URL(hidden.assets.hls).pathname.replace('hls/manifest.m3u8', 'session'),
    'live playlist': `/${liveStreamId}.m3u8`,
    'live thumbnail': `/${liveStreamId}/thumbnail.jpg`,
    'live player page': `/live/${liveStreamId}`,
    'unknown asset': '/vod/vi0000000000000000000000/thumbnail.jpg',
  };
});
afterAll(() => server.stop());

it('pages of any origin may read every answer, errors too', async () => {
  for (const [what, path] of Object.entries(paths)) {
    const answer = await fetch(server.baseUrl + path, { headers: { origin } });
    await answer.body?.cancel();
    expect([what, answer.headers.get('access-control-allow-origin')]).toEqual([what, '*']);
  }
});

it('browsers that ask first hear that every header of clients is allowed, without credentials', async () => {
  for (const [what, path] of Object.entries(paths)) {
    const answer = await fetch(server.baseUrl + path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': headersOfClients.join(', '),
      },
    });
    expect([what, answer.status, answer.headers.get('content-type')]).toEqual([what, 204, null]);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    const allowed = answer.headers.get('access-control-allow-headers')!.toLowerCase().split(', ');
    expect([what, headersOfClients.filter(name => !allowed.includes(name))]).toEqual([what, []]);
  }
});
