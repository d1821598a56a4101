import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { parseMediaPlaylist } from '../../scripts/parse-media-playlist.ts';
import { basicAuthorization } from '../../scripts/server-process.ts';
import { type Edge, nginxEdge, varnishEdge } from '../support/edges.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { RecordingProxy } from '../support/recording-proxy.ts';
import { signToken } from '../support/sign-token.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { formOf, makeFilm } from './vod-server-fixture.ts';

const viewers = 8;
const programs = [nginxEdge, varnishEdge];
for (const { missing } of programs) if (missing !== undefined) console.log(`skipped: ${missing}`);

async function get(url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { headers });
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
}

const statusOf = async (url: string, headers: Record<string, string> = {}) =>
  (await get(url, headers)).status;

/** Address of the first entry of a playlist. */
function entryOf(playlist: Buffer, url: string): string {
  const [line] = playlist
    .toString()
    .split('\n')
    .filter(text => text !== '' && !text.startsWith('#'));
  return new URL(line!, url).href;
}

/** Average number of requests per address. */
function requestsEach(paths: readonly string[]): number {
  return paths.length / new Set(paths).size;
}

describe.each(programs)('an edge with $name', program => {
  let server: TestServer;
  let origin: RecordingProxy;
  let folder: string;
  let edge: Edge;

  beforeAll(async () => {
    if (program.missing !== undefined) return;
    server = await startServer({ 'live.segmentTarget': '1s' });
    origin = await RecordingProxy.start(server.baseUrl);
    folder = await makeTempDir();
    edge = await program.start(folder, Number(new URL(origin.baseUrl).port));
  });
  afterAll(async () => {
    await edge?.stop();
    origin?.stop();
    await server?.stop();
    if (folder !== undefined) await removeDir(folder);
  });

  const through = (url: string) => edge.baseUrl + new URL(url).pathname + new URL(url).search;
  const askedAtOrigin = (id: string) =>
    origin.requestsOf('').flatMap(({ path }) => (path.includes(id) ? [path] : []));

  async function assetsOf(path: string): Promise<{ hls: string; mp4: string; thumbnail: string }> {
    const { assets } = (await (await server.api('GET', path)).json()) as { assets: Record<string, string> };
    return {
      hls: through(assets.hls!),
      mp4: through(assets.mp4 ?? assets.hls!),
      thumbnail: through(assets.thumbnail!),
    };
  }

  describe.skipIf(program.missing !== undefined).concurrent('', () => {
    it('answers many viewers of a live stream with one request for each part and each reload', async () => {
      const { liveStreamId, streamKey } = await server.createStream();
      await using _ = publishTestPicture({ url: server.rtmpUrl(streamKey), gopSeconds: 1, size: '160x90' });
      const masterUrl = `${edge.baseUrl}/${liveStreamId}.m3u8`;
      const watches = [await StreamMonitor.begin(masterUrl)];
      while (watches.length < viewers) watches.push(await StreamMonitor.begin(masterUrl));
      for (const watch of watches) await watch.until(({ realSegments }) => realSegments > 6, 'segments');
      for (const watch of watches) await watch.stop();
      for (const watch of watches) expect(await watch.brokenRules()).toEqual([]);

      const asked = askedAtOrigin(liveStreamId);
      const media = asked.filter(path => /\.(m4s|mp4)/.test(path));
      const reloads = asked.filter(path => path.includes('_HLS_msn='));
      expect(media.length).toBeGreaterThan(20);
      expect(reloads.length).toBeGreaterThan(5);
      expect(requestsEach(media)).toBeLessThan(1.3);
      expect(requestsEach(reloads)).toBeLessThan(1.3);
      // Counts requests to the edge: each viewer sent it nearly all of them.
      const answers = watches.reduce((sum, watch) => sum + watch.playlists.length, 0);
      expect(answers).toBeGreaterThan(2 * reloads.length);
    });

    it('holds a reload longer than a proxy usually does not, and keeps encodings, ranges and methods apart', async () => {
      const { liveStreamId, streamKey } = await server.createStream();
      await using _ = publishTestPicture({ url: server.rtmpUrl(streamKey), gopSeconds: 1, size: '160x90' });
      const watch = await StreamMonitor.begin(`${edge.baseUrl}/${liveStreamId}.m3u8`);
      await watch.until(({ realSegments }) => realSegments > 2, 'segments');
      const { mediaUrl } = watch;
      // Requests the next segment but one, which is held for a second or more.
      const hold = () =>
        Promise.all(
          Array.from({ length: 5 }, () => get(`${mediaUrl}?token=ignored&_HLS_msn=${watch.newestMsn + 2}`)),
        );
      // Repeats: on a busy machine, the segment may be listed before the request.
      const [first, ...others] = await waitUntil(async () => {
        const answers = await hold();
        return answers[0]!.headers.get('cache-control') !== 'max-age=0, s-maxage=1' && answers;
      });
      expect(first!.status).toBe(200);
      for (const other of others) expect(other.body.equals(first!.body)).toBe(true);
      const { targetDurationSeconds, segments } = parseMediaPlaylist(first!.body.toString());
      expect(first!.headers.get('cache-control')).toBe(`max-age=${6 * targetDurationSeconds}`);
      expect(askedAtOrigin(liveStreamId).filter(path => path.includes('token'))).toEqual([]);

      const delta = await get(`${mediaUrl}?_HLS_skip=YES&_HLS_msn=${watch.newestMsn}`);
      expect(delta.status).toBe(200);
      const segmentUrl = new URL(segments.at(-1)!.uri, mediaUrl).href;
      const whole = await get(`${segmentUrl}?any=1`);
      const again = await get(segmentUrl);
      expect(again.headers.get('x-cache-status')).toBe('HIT');
      expect(again.body.equals(whole.body)).toBe(true);
      expect(whole.body.equals((await get(server.baseUrl + new URL(segmentUrl).pathname)).body)).toBe(true);
      const range = await get(segmentUrl, { range: 'bytes=100-299' });
      expect(range).toMatchObject({ status: 206, body: whole.body.subarray(100, 300) });
      expect(range.headers.get('content-range')).toBe(`bytes 100-299/${whole.body.length}`);
      // Varnish names the type of the media in a 304, which the check of answers refuses.
      if (program === nginxEdge)
        expect(await statusOf(segmentUrl, { 'if-none-match': whole.headers.get('etag')! })).toBe(304);
      const head = await fetch(segmentUrl, { method: 'HEAD' });
      expect(head.headers.get('content-length')).toBe(String(whole.body.length));
      const preflight = await fetch(segmentUrl, { method: 'OPTIONS' });
      expect(preflight.headers.get('access-control-allow-headers')).toContain('range');
      for (const encoding of ['gzip, deflate, br', 'identity', 'gzip;q=0, identity', 'deflate, gzip;q=1.0']) {
        const { headers, body } = await get(mediaUrl, { 'accept-encoding': encoding });
        const isZipped = encoding.includes('gzip') && !encoding.includes('q=0');
        expect([encoding, headers.get('content-encoding')]).toEqual([encoding, isZipped ? 'gzip' : null]);
        expect(body.toString()).toMatch(/^#EXTM3U/);
        expect(headers.get('access-control-allow-origin')).toBe('*');
      }
      await watch.stop();
    });

    it('keeps no error of a part that is not there yet', async () => {
      const { liveStreamId, streamKey } = await server.createStream();
      await using _ = publishTestPicture({ url: server.rtmpUrl(streamKey), gopSeconds: 1, size: '160x90' });
      const watch = await StreamMonitor.begin(`${edge.baseUrl}/${liveStreamId}.m3u8`);
      await watch.until(({ realSegments }) => realSegments > 1, 'segments');
      const numberOf = (uri: string) => Number(/part-(\d+)/.exec(uri)?.[1]);
      const [early, url] = await waitUntil(async () => {
        const number = Math.max(...[...watch.parts.keys()].map(numberOf)) + 6;
        const address = new URL(`part-${number}.m4s`, watch.mediaUrl).href;
        return (await statusOf(address)) === 404 && ([number, address] as const);
      });
      await watch.until(({ parts }) => [...parts.keys()].some(uri => numberOf(uri) === early), 'the part');
      expect(await statusOf(url)).toBe(200);
      expect(await statusOf(`${watch.mediaUrl}?_HLS_part=1`)).toBe(400);
      expect(await statusOf(`${watch.mediaUrl}?_HLS_msn=999999`)).toBe(400);
      expect(await statusOf(watch.mediaUrl)).toBe(200);
      await watch.stop();
      expect(await watch.brokenRules()).toEqual([]);
    });

    it('shares the error of a reload that was held in vain, for a second or two', async ({
      onTestFinished,
    }) => {
      let isMending = false;
      let requests = 0;
      const failing = http.createServer((_, response) => {
        requests += 1;
        setTimeout(() => {
          if (isMending) response.writeHead(200, { 'Cache-Control': 'max-age=1' }).end('#EXTM3U\n');
          else response.writeHead(503, { 'Cache-Control': 'max-age=0, s-maxage=1' }).end();
        }, 200);
      });
      failing.listen(0, '127.0.0.1');
      await once(failing, 'listening');
      onTestFinished(() => failing.closeAllConnections());
      const lonely = await program.start(join(folder, 'lonely'), (failing.address() as AddressInfo).port);
      onTestFinished(() => lonely.stop());
      const url = `${lonely.baseUrl}/li0123456789abcdefghijkl/br1/source/index.m3u8?_HLS_msn=9`;
      const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(url)));
      expect(new Set(statuses)).toEqual(new Set([503]));
      expect(requests).toBeLessThanOrEqual(2);
      isMending = true;
      await waitUntil(async () => (await statusOf(url)) === 200, { what: 'the playlist' });
      failing.close();
    });

    it('serves private media once for all viewers, and nothing to others', async () => {
      const { liveStreamId, streamKey } = await server.createStream();
      const path = `/live-streams/${liveStreamId}`;
      await server.api('PATCH', path, { public: false });
      await using _ = publishTestPicture({ url: server.rtmpUrl(streamKey), gopSeconds: 1, size: '160x90' });
      const watches: StreamMonitor[] = [];
      while (watches.length < 4) watches.push(await StreamMonitor.begin((await assetsOf(path)).hls));
      for (const watch of watches) await watch.until(({ realSegments }) => realSegments > 4, 'segments');
      for (const watch of watches.slice(1)) await watch.stop();
      const [one, two] = [watches[0]!, watches[1]!];
      expect(one.mediaUrl).toMatch(/\/private\/[0-9a-f-]{36}\/li\w{22}\/avh-[\w-]{43}\//);
      const names = askedAtOrigin(liveStreamId)
        .filter(asked => asked.endsWith('.m4s'))
        .map(asked => asked.slice(asked.lastIndexOf('/')));
      expect(names.length).toBeGreaterThan(10);
      expect(requestsEach(names)).toBeLessThan(1.3);

      const segmentOf = (watch: StreamMonitor) =>
        new URL(watch.latest!.segments.at(-1)!.uri, watch.mediaUrl).href;
      const urls = [one.mediaUrl, segmentOf(one)];
      const other = { 'user-agent': 'another browser' };
      for (const url of urls) {
        const { status, headers } = await get(url, other);
        expect([status, headers.get('cache-control')]).toEqual([200, expect.stringMatching(/^private, /)]);
        expect([headers.get('set-cookie'), headers.get('x-token-session')]).toEqual([null, null]);
        const [, token, session] = /\/private\/([^/]+)\/[^/]+\/avh-([^/]+)/.exec(url)!;
        const [, otherToken, otherSession] = /\/private\/([^/]+)\/[^/]+\/avh-([^/]+)/.exec(two.mediaUrl)!;
        const { hls: unused } = await assetsOf(path);
        for (const wrong of [
          url.replace(`avh-${session}`, `avh-${otherSession}`),
          url.replace(`avh-${session}`, 'avh-x'),
          url.replace(`/avh-${session}`, ''),
          url.replace(token!, otherToken!),
          url.replace(token!, '0a1b2c3d-4e5f-4a6b-8c7d-0123456789ab'),
          url.replace(token!, /private\/([^/]+)/.exec(unused)![1]!),
          url.replace(`/private/${token}`, '').replace(`/avh-${session}`, ''),
        ]) {
          const refused = await get(wrong, other);
          expect([wrong, refused.status]).toEqual([wrong, 404]);
        }
      }
      await server.api('PATCH', path, { public: true });
      for (const url of [...urls, segmentOf(two)]) {
        await waitUntil(async () => (await statusOf(url)) === 404, { what: 'the end of the token' });
      }
      await one.stop();
    });

    it('serves the media of signed tokens once for all viewers, and checks each', async () => {
      const key = (await (await server.api('POST', '/account/signing-keys', { name: 'Edge' })).json()) as {
        signingKeyId: string;
        privateKey: string;
      };
      const { liveStreamId, streamKey } = await server.createStream();
      await server.api('PATCH', `/live-streams/${liveStreamId}`, { public: false });
      const sign = (claims: object = {}) =>
        signToken(
          { id: key.signingKeyId, algorithm: 'ES256', privateKey: createPrivateKey(key.privateKey) },
          { sub: liveStreamId, exp: Math.floor(Date.now() / 1000) + 3600, ...claims },
        );
      await using _ = publishTestPicture({ url: server.rtmpUrl(streamKey), gopSeconds: 1, size: '160x90' });
      const token = await sign();
      const url = `${edge.baseUrl}/private/${token}/${liveStreamId}.m3u8`;
      await waitUntil(async () => (await statusOf(url)) === 200, { what: 'the broadcast' });
      const watch = await StreamMonitor.begin(url);
      await watch.until(({ realSegments }) => realSegments > 2, 'segments');
      await watch.stop();
      const segmentUrl = new URL(watch.latest!.segments.at(-1)!.uri, watch.mediaUrl).href;
      expect(segmentUrl).toContain(`/private/${token}/${liveStreamId}/`);
      expect((await get(segmentUrl)).status).toBe(200);
      const shared = await get(segmentUrl.replace(token, await sign({ viewer: 'another' })));
      expect([shared.status, shared.headers.get('x-cache-status')]).toEqual([200, 'HIT']);

      const restricted = await sign({ domains: ['example.com'] });
      for (const media of [watch.mediaUrl, segmentUrl]) {
        const of = (origin: string) => statusOf(media.replace(token, restricted), { origin });
        expect(await of('https://example.com')).toBe(200);
        expect(await of('https://evil.test')).toBe(403);
        expect(await statusOf(media.replace(token, `${token}x`))).toBe(403);
        expect(await statusOf(media.replace(token, await sign({ sub: 'liOther00000000000000000' })))).toBe(
          403,
        );
        expect(await statusOf(media.replace(`/private/${token}`, ''))).toBe(404);
      }
      await server.api('DELETE', `/account/signing-keys/${key.signingKeyId}`);
      await waitUntil(async () => (await statusOf(segmentUrl)) === 403, { what: 'the end of the tokens' });
    });

    it('takes an upload and serves segments of videos, with ranges, until they are deleted', async () => {
      const film = join(folder, 'film.mp4');
      await makeFilm(film, { seconds: 4, codec: 'libx264', size: '320x180' });
      const bytes = await readFile(film);
      const upload = async (values: object) => {
        const created = await server.api('POST', '/videos', { title: 'A film', ...values });
        const { videoId } = (await created.json()) as { videoId: string };
        const sent = await fetch(`${edge.baseUrl}/videos/${videoId}/source`, {
          method: 'POST',
          headers: { authorization: basicAuthorization(server.productionKey) },
          body: formOf(bytes),
        });
        expect(sent.status).toBe(201);
        const assets = await assetsOf(`/videos/${videoId}`);
        const playlist = await waitUntil(async () => {
          const { status, body } = await get(assets.hls);
          return status === 200 ? body : undefined;
        });
        const mediaUrl = entryOf(playlist, assets.hls);
        return { videoId, assets, segmentUrl: entryOf((await get(mediaUrl)).body, mediaUrl) };
      };

      const open = await upload({});
      const whole = await get(open.segmentUrl);
      expect(whole.headers.get('cache-control')).toContain('s-maxage=300');
      const warm = await get(open.segmentUrl, { range: 'bytes=10-19' });
      expect(warm).toMatchObject({ status: 206, body: whole.body.subarray(10, 20) });
      expect(warm.headers.get('x-cache-status')).toBe('HIT');
      const mp4 = await waitUntil(async () => {
        const part = await get(open.assets.mp4, { range: 'bytes=0-99' });
        return part.status === 206 ? part : undefined;
      });
      expect(mp4.body.length).toBe(100);

      const hidden = await upload({ public: false });
      const { hls } = await assetsOf(`/videos/${hidden.videoId}`);
      const second = await get(hls, { 'user-agent': 'another browser' });
      const secondUrl = entryOf((await get(entryOf(second.body, hls))).body, entryOf(second.body, hls));
      const [own, shared] = [await get(hidden.segmentUrl), await get(secondUrl)];
      expect(shared.headers.get('x-cache-status')).toBe('HIT');
      expect(shared.body.equals(own.body)).toBe(true);
      const [base] = hidden.segmentUrl.split('?');
      const other = { 'user-agent': 'a third browser' };
      for (const wrong of [
        ...[
          base!,
          `${base}?avh=x`,
          `${base}?avh=`,
          secondUrl.replace(/\?.*/, new URL(hidden.segmentUrl).search),
        ],
        base!.replace(/\/token\/[^/]+/, ''),
      ]) {
        expect([wrong, await statusOf(wrong, other)]).toEqual([wrong, 404]);
      }

      for (const { videoId } of [open, hidden]) await server.api('DELETE', `/videos/${videoId}`);
      expect(await statusOf(open.assets.hls)).toBe(404);
      await waitUntil(async () => (await statusOf(hidden.segmentUrl)) === 404, { what: 'no access' });
      // The cache needs a ban; otherwise it serves what it has for up to five minutes.
      expect(await statusOf(open.segmentUrl)).toBe(200);
      if (program !== varnishEdge) return;
      expect((await fetch(`${edge.baseUrl}/${open.videoId}`, { method: 'BAN' })).status).toBe(200);
      expect(await statusOf(open.segmentUrl)).toBe(404);
    });

    it('passes the event feed and the events of pages on', async ({ onTestFinished }) => {
      const direct = await program.start(join(folder, 'direct'), server.app.httpPort);
      onTestFinished(() => direct.stop());
      const feed = new WebSocket(`${direct.baseUrl.replace('http', 'ws')}/events`, {
        auth: `${server.productionKey}:`,
      });
      onTestFinished(() => feed.terminate());
      await once(feed, 'open');
      const { liveStreamId } = await server.createStream();
      const page = await fetch(`${direct.baseUrl}/live/${liveStreamId}/events`);
      const reader = page.body!.getReader();
      const { value } = await reader.read();
      expect(Buffer.from(value!).toString()).toContain('event: state');
      await reader.cancel();
    });
  });
});
