import { once } from 'node:events';
import { rename, rm, truncate, writeFile } from 'node:fs/promises';
import http2 from 'node:http2';
import net from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { DeliveryOptions } from '../../src/delivery/delivery.ts';
import { openFilesIn } from '../support/open-files.ts';
import { stateOfPage } from '../support/player-page.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { FolderVideos, hiddenId, videoId } from '../support/vod-fixture.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type HttpReply, type Protocol, protocols, startDelivery } from './delivery-fixture.ts';

const base = `/vod/${videoId}`;
const segment = `${base}/hls/720p/video-1-0.m4s`;
const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

async function started(protocol: Protocol, options: Partial<DeliveryOptions> = {}) {
  const videos = new FolderVideos(await testTempDir());
  const server = await startDelivery(protocol, {
    vod: videos,
    publicUrl: () => 'https://video.example.org',
    ...options,
  });
  return Object.assign(server, { videos });
}

function expectCors(answer: HttpReply): void {
  expect(answer.headers['access-control-allow-origin']).toBe('*');
  expect(answer.headers['access-control-expose-headers']).toMatch(/Age.*Date.*Content-Range/);
}

/** A segment as an MP4 source gives it: a header at hand, and samples between which other samples stand. */
async function giveSegment(videos: FolderVideos, samples: number): Promise<Buffer> {
  const head = Buffer.from('the moof box');
  const pieces = [];
  const expected: Buffer[] = [head];
  for (let index = 0; index < samples; index += 1) {
    const { slice, bytes } = await videos.addBytes(3 * kilobyte + index);
    await videos.addBytes(2 * kilobyte);
    pieces.push(slice);
    expected.push(bytes);
  }
  videos.give(videoId, '720p/video-1-0.m4s', [head, ...pieces]);
  return Buffer.concat(expected);
}

describe.each(protocols)('delivery of videos over %s', protocol => {
  it('says 202 with nothing in it while a video is not playable, and 404 once it never will be', async () => {
    await using server = await started(protocol);
    server.videos.set(videoId, { isPlayable: false });
    for (const path of ['/hls/manifest.m3u8', '/mp4/source.mp4']) {
      const waiting = await server.ask(base + path);
      expect([waiting.status, waiting.body.length]).toEqual([202, 0]);
      expect(waiting.headers['content-type']).toBeUndefined();
      expect(waiting.headers['cache-control']).toBe('no-store');
      expectCors(waiting);
    }
    server.videos.set(videoId, { hasFailed: true });
    for (const path of ['/hls/manifest.m3u8', '/mp4/source.mp4']) {
      const failed = await server.ask(base + path, { accept: 'text/plain' });
      expect([failed.status, failed.body.toString()]).toEqual([
        404,
        'Processing this video failed, so it cannot be played.\n',
      ]);
      expectCors(failed);
    }
  });

  it('gives playlists, gzipped to those who ask for it, to be asked for anew', async () => {
    await using server = await started(protocol);
    for (const path of [`${base}/hls/manifest.m3u8`, `${base}/hls/720p/manifest.m3u8`]) {
      const plain = await server.ask(path);
      const zipped = await server.ask(path, { 'accept-encoding': 'gzip' });
      expect([plain.status, plain.body.toString().slice(0, 7)]).toEqual([200, '#EXTM3U']);
      expect(plain.headers['content-type']).toBe('application/vnd.apple.mpegurl');
      expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
      const again = await server.ask(path, { 'if-none-match': plain.headers.etag! });
      expect([again.status, again.body.length]).toEqual([304, 0]);
      for (const answer of [plain, zipped, again]) expectCors(answer);
    }
    const lifetimeOf = async (path: string) => (await server.ask(base + path)).headers['cache-control'];
    expect(await lifetimeOf('/hls/manifest.m3u8')).toBe('no-cache');
    expect(await lifetimeOf('/hls/720p/manifest.m3u8')).toBe('max-age=60');
    server.videos.isComplete = false;
    expect(await lifetimeOf('/hls/720p/manifest.m3u8')).toBe('no-cache');
  });

  it('puts a segment together of many places in a file', async () => {
    await using server = await started(protocol);
    const expected = await giveSegment(server.videos, 300);
    const answer = await server.ask(segment);
    expect(answer.status).toBe(200);
    expect(answer.body.equals(expected)).toBe(true);
    expect(answer.headers['content-length']).toBe(String(expected.length));
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, s-maxage=300, immutable');
    expect(answer.headers['content-type']).toBe('video/mp4');
    expectCors(answer);
    await waitUntil(() => openFilesIn(server.videos.folder).length === 0);
  });

  it('gives exact ranges of it', async () => {
    await using server = await started(protocol);
    const expected = await giveSegment(server.videos, 40);
    const size = expected.length;
    for (const [range, start, end] of [
      ['bytes=0-4', 0, 5],
      ['bytes=5-20', 5, 21],
      [`bytes=${size - 10}-`, size - 10, size],
      ['bytes=-3000', size - 3000, size],
      [`bytes=1000-${size * 2}`, 1000, size],
      ['bytes=3083-60000', 3083, 60_001],
    ] as const) {
      const answer = await server.ask(segment, { range });
      expect([range, answer.status]).toEqual([range, 206]);
      expect(answer.headers['content-range']).toBe(`bytes ${start}-${end - 1}/${size}`);
      expect(answer.body.equals(expected.subarray(start, end))).toBe(true);
    }
    const beyond = await server.ask(segment, { range: `bytes=${size}-` });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${size}`]);
    expectCors(beyond);
    const { etag } = (await server.ask(segment, {}, 'HEAD')).headers;
    const ranged = { range: 'bytes=0-1', 'if-range': etag! };
    expect((await server.ask(segment, ranged)).status).toBe(206);
    expect((await server.ask(segment, { ...ranged, 'if-range': '"older"' })).status).toBe(200);
    expect((await server.ask(segment, { 'if-none-match': etag! })).status).toBe(304);
  });

  it('answers HEAD like GET without opening a file', async () => {
    await using server = await started(protocol);
    await giveSegment(server.videos, 3);
    await server.videos.giveFile(videoId, 'mp4', 'film', 'video/mp4');
    for (const path of [
      '',
      '/state',
      '/hls/manifest.m3u8',
      '/hls/720p/video-1-0.m4s',
      '/mp4/source.mp4',
      '/thumbnail.jpg',
    ]) {
      const get = await server.ask(base + path);
      const head = await server.ask(base + path, {}, 'HEAD');
      expect([path, head.status, head.body.length]).toEqual([path, get.status, 0]);
      for (const name of ['content-length', 'content-type', 'cache-control', 'etag']) {
        expect(head.headers[name]).toBe(get.headers[name]);
      }
    }
  });

  it('gives the mp4 whole, in ranges, and as a download named after the video', async () => {
    await using server = await started(protocol);
    server.videos.set(videoId, { title: 'Küste / "Nord"' });
    expect((await server.ask(`${base}/mp4/source.mp4`)).status).toBe(202);
    const film = Buffer.alloc(3 * megabyte, 'film');
    await server.videos.giveFile(videoId, 'mp4', film, 'video/mp4');
    await server.videos.giveFile(videoId, 'mp4/720p', 'small', 'video/mp4');
    const whole = await server.ask(`${base}/mp4/source.mp4`);
    expect([whole.status, whole.body.equals(film)]).toEqual([200, true]);
    expect(whole.headers['content-disposition']).toBeUndefined();
    expect(whole.headers['accept-ranges']).toBe('bytes');
    expect(whole.headers['cache-control']).toBe('max-age=86400, s-maxage=300');
    const part = await server.ask(`${base}/mp4/source.mp4?dl=1`, { range: 'bytes=2097150-' });
    expect([part.status, part.body.length]).toEqual([206, megabyte + 2]);
    expect(part.headers['content-disposition']).toBe(
      `attachment; filename="K_ste Nord.mp4"; filename*=UTF-8''K%C3%BCste%20Nord.mp4`,
    );
    expect((await server.ask(`${base}/mp4/720/source.mp4`)).body.toString()).toBe('small');
    expect((await server.ask(`${base}/mp4/1080/source.mp4`)).status).toBe(404);
    server.videos.set(videoId, { mp4Support: false });
    expect((await server.ask(`${base}/mp4/source.mp4`)).status).toBe(404);
    expect((await server.ask(`${base}/mp4/720/source.mp4`)).status).toBe(404);
  });

  it('gives the image of a video, or a placeholder', async () => {
    await using server = await started(protocol);
    const none = await server.ask(`${base}/thumbnail.jpg`);
    expect([none.status, none.headers['content-type']]).toEqual([200, 'image/jpeg']);
    expect(none.body.subarray(0, 3).toString('hex')).toBe('ffd8ff');
    const without = await server.ask(`${base}/thumbnail.jpg?placeholder=none`);
    expect([without.status, without.body.length, without.headers['cache-control']]).toEqual([
      204,
      0,
      'no-store',
    ]);
    await server.videos.giveFile(videoId, 'thumbnail', 'picture', 'image/webp');
    const image = await server.ask(`${base}/thumbnail.jpg`);
    expect([image.body.toString(), image.headers['content-type']]).toEqual(['picture', 'image/webp']);
    expect(image.headers['cache-control']).toBe('max-age=60');
    expect(image.headers['x-content-type-options']).toBe('nosniff');
    expect((await server.ask(`${base}/thumbnail.jpg?placeholder=none`)).body.toString()).toBe('picture');
    const again = await server.ask(`${base}/thumbnail.jpg`, { 'if-none-match': image.headers.etag! });
    expect(again.status).toBe(304);
  });

  it('gives the storyboard where there is one', async () => {
    await using server = await started(protocol);
    for (const name of ['storyboard.jpg', 'storyboard.vtt']) {
      expect((await server.ask(`${base}/${name}`)).status).toBe(404);
    }
    const text = 'WEBVTT\n\n00:00.000 --> 00:02.000\nstoryboard.jpg#xywh=0,0,160,90\n';
    await server.videos.giveFile(videoId, 'storyboard.jpg', 'sprites', 'image/jpeg');
    await server.videos.giveFile(videoId, 'storyboard.vtt', text, 'text/vtt; charset=utf-8');
    const image = await server.ask(`${base}/storyboard.jpg`);
    expect([image.body.toString(), image.headers['content-type']]).toEqual(['sprites', 'image/jpeg']);
    const track = await server.ask(`${base}/storyboard.vtt`, { 'accept-encoding': 'gzip' });
    expect(track.headers['content-type']).toBe('text/vtt; charset=utf-8');
    expect(gunzipSync(track.body).toString()).toBe(text);
  });

  it('has a playlist for captions in each language, whatever the case of its tag', async () => {
    await using server = await started(protocol);
    server.videos.set(videoId, {
      captions: async () => [{ language: 'fr-CA', label: 'Français', isDefault: false }],
    });
    const answer = await server.ask(`${base}/hls/captions/fr-ca.m3u8`);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/vnd.apple.mpegurl']);
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect(answer.body.toString()).toContain('#EXTINF:61.50000,\n../../captions/fr-CA.vtt\n#EXT-X-ENDLIST');
    expectCors(answer);
    expect((await server.ask(`${base}/hls/captions/fr.m3u8`)).status).toBe(404);
  });

  it('says 404 to everything that is not there, and to other sites too', async () => {
    await using server = await started(protocol);
    for (const path of [
      `${base}/hls/360p/manifest.m3u8`,
      `${base}/hls/720p/video-1-7.m4s`,
      `${base}/hls/720p/..%2f..%2fsource`,
      `${base}/captions/en.vtt`,
      `${base}/hls/captions/en.m3u8`,
      `${base}/chapters/en.vtt`,
      `${base}/source`,
      `${base}/session`,
      `${base}/token/x/state`,
      '/vod/viUnknown000000000000000/hls/manifest.m3u8',
      '/vod/viUnknown000000000000000/thumbnail.jpg',
      '/vod/viUnknown000000000000000/oembed.json',
      `/vod/${hiddenId}/hls/manifest.m3u8`,
      `/vod/${hiddenId}/mp4/source.mp4`,
      `/vod/${hiddenId}/thumbnail.jpg`,
      `/vod/${hiddenId}/state`,
      `/vod/${hiddenId}/oembed.json`,
    ]) {
      const answer = await server.ask(path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.headers['content-type']).toBe('application/json');
      expectCors(answer);
    }
    expect((await server.ask(`${base}/hls/manifest.m3u8`, {}, 'POST')).status).toBe(405);
    expect((await server.ask(`${base}/hls/manifest.m3u8`, {}, 'OPTIONS')).status).toBe(204);
    for (const path of ['/videos', `/videos/${videoId}`, '/vod']) {
      expect((await server.ask(path)).body.toString()).toBe('the API');
    }
  });

  it('shows a page with what there is to know, escaped, under a strict policy', async () => {
    await using server = await started(protocol);
    server.videos.set(videoId, {
      hasStoryboard: true,
      captions: async () => [{ language: 'en', label: 'English', isDefault: true }],
    });
    await server.videos.giveFile(videoId, 'mp4', 'film', 'video/mp4');
    const answer = await server.ask(`${base}?embed`, { 'accept-encoding': 'gzip' });
    const page = gunzipSync(answer.body).toString();
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect(page).toContain('<title>Pier &#60;cam&#62;</title>');
    expect(page).not.toContain('{{');
    expect(page).not.toContain('<cam>');
    const state = JSON.parse((await server.ask(`${base}/state`)).body.toString());
    expect(state).toEqual({
      videoId,
      title: 'Pier <cam>',
      playable: true,
      failed: false,
      duration: 61.5,
      width: 640,
      height: 360,
      hls: `${base}/hls/manifest.m3u8`,
      mp4: `${base}/mp4/source.mp4`,
      hasThumbnail: false,
      poster: `${base}/thumbnail.jpg`,
      storyboard: `${base}/storyboard.vtt`,
      panoramic: false,
      captions: [{ language: 'en', label: 'English', src: `${base}/captions/en.vtt`, default: true }],
      chapters: [],
      theme: null,
      revision: 3,
    });
    expect(stateOfPage(page)).toEqual(state);
    expect(page).toContain(
      '<meta property="og:image" content="https://video.example.org/vod/vi0123456789012345678901/thumbnail.jpg">',
    );
    for (const [, link] of page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)) {
      expect((await server.ask(link!)).status).toBe(200);
    }
  });

  it('shows a page that says so for what is not there', async () => {
    await using server = await started(protocol);
    for (const id of ['nobody', '', 'viUnknown000000000000000', hiddenId]) {
      const answer = await server.ask(`/vod/${id}`);
      expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
      expect(answer.body.toString()).toContain('Video not found');
    }
  });

  it('tells other sites how to embed the page, within the room that they have', async () => {
    await using server = await started(protocol);
    const ask = async (query: string) =>
      JSON.parse((await server.ask(`${base}/oembed.json${query}`)).body.toString());
    expect(await ask('')).toMatchObject({ type: 'video', version: '1.0', width: 640, height: 360 });
    expect((await ask('')).html).toContain(`src="https://video.example.org${base}"`);
    expect(await ask('?maxwidth=320')).toMatchObject({ width: 320, height: 180 });
    expect(await ask('?maxwidth=320&maxheight=90')).toMatchObject({ width: 160, height: 90 });
    expect(await ask('?maxwidth=x&maxheight=-1')).toMatchObject({ width: 640, height: 360 });
  });

  it('counts requests by their kind', async () => {
    await using server = await started(protocol);
    await giveSegment(server.videos, 2);
    const paths = ['', '/state', '/hls/manifest.m3u8', '/hls/720p/manifest.m3u8', '/thumbnail.jpg'];
    for (const path of paths) await server.ask(base + path);
    const before = server.bytesOut();
    const { body } = await server.ask(segment);
    expect(server.bytesOut() - before).toBe(body.length);
    expect(server.requests).toEqual([
      ['vod-page', 200],
      ['vod-state', 200],
      ['vod-multivariant', 200],
      ['vod-playlist', 200],
      ['vod-thumbnail', 200],
      ['vod-media', 200],
    ]);
  });

  it('redirects those who get an MP4 to the storage, where it has addresses', async () => {
    await using server = await started(protocol);
    await server.videos.giveFile(videoId, 'mp4', 'film', 'video/mp4');
    server.videos.downloadBase = 'https://storage.example.org';
    const ask = async (query: string) => {
      const { status, body, headers } = await server.ask(`${base}/mp4/source.mp4${query}`);
      expect([status, body.length, headers['cache-control']]).toEqual([302, 0, 'no-store']);
      return new URL(headers.location!);
    };
    const [played, loaded] = [await ask(''), await ask('?dl=1')];
    expect([played.host, played.pathname]).toEqual(['storage.example.org', `/${videoId}/`]);
    expect([...played.searchParams.values()]).toEqual(['21600', 'inline']);
    expect(loaded.searchParams.get('as')).toMatch(/^attachment; filename=/);
    const head = await server.ask(`${base}/mp4/source.mp4`, {}, 'HEAD');
    expect([head.status, head.headers['content-length']]).toEqual([200, '4']);
  });

  it('answers 404 for a file that is gone, 500 without its text for a fault', async () => {
    await using server = await started(protocol);
    const path = await server.videos.giveFile(videoId, 'mp4', 'film', 'video/mp4');
    await rm(path);
    const gone = await server.ask(`${base}/mp4/source.mp4`);
    expect(gone.status).toBe(404);
    expectCors(gone);
    server.videos.fault = new Error('a fault inside');
    const fault = await server.ask(`${base}/hls/manifest.m3u8`);
    expect([fault.status, fault.body.includes('inside')]).toEqual([500, false]);
    expect(server.errors).toEqual(['delivery-failed']);
    expectCors(fault);
  });

  it('cuts off a viewer whose file ends too early, and nobody else', async () => {
    await using server = await started(protocol);
    const path = await server.videos.giveFile(videoId, 'mp4', Buffer.alloc(2 * megabyte), 'video/mp4');
    await giveSegment(server.videos, 3);
    await truncate(path, megabyte);
    // Node's HTTP/2 client takes a stream that the server gave up for one that ended.
    const answer = await server.ask(`${base}/mp4/source.mp4`).catch(() => undefined);
    expect(answer?.body.length ?? 0).toBeLessThan(2 * megabyte);
    expect(answer === undefined).toBe(protocol !== 'HTTP/2');
    expect(server.errors).toEqual(['delivery-failed']);
    expect((await server.ask(segment)).status).toBe(200);
    await waitUntil(() => openFilesIn(server.videos.folder).length === 0);
  });

  it('sends to its end a file that is replaced meanwhile', async () => {
    await using server = await started(protocol);
    const film = Buffer.alloc(16 * megabyte, 1);
    const path = await server.videos.giveFile(videoId, 'mp4', film, 'video/mp4');
    const asked = server.ask(`${base}/mp4/source.mp4`);
    await waitUntil(() => server.bytesOut() > 0, { everyMs: 1 });
    await writeFile(`${path}.new`, 'other');
    await rename(`${path}.new`, path);
    expect((await asked).body.equals(film)).toBe(true);
  });

  it('closes the files of viewers who leave', async () => {
    await using server = await started(protocol);
    await server.videos.giveFile(videoId, 'mp4', Buffer.alloc(60 * megabyte), 'video/mp4');
    const leaving = Array.from({ length: 12 }, () => {
      const abort = new AbortController();
      return { abort, answer: server.ask(`${base}/mp4/source.mp4`, {}, 'GET', abort.signal).catch(() => {}) };
    });
    await waitUntil(() => openFilesIn(server.videos.folder).length > 0, { everyMs: 1 });
    for (const { abort, answer } of leaving) {
      abort.abort();
      await answer;
    }
    await waitUntil(() => openFilesIn(server.videos.folder).length === 0);
    expect(server.errors).toEqual([]);
  });
});

describe('a viewer of a video who stops reading', () => {
  const film = 64 * megabyte;
  const path = `${base}/mp4/source.mp4`;

  it('is cut off on HTTP/1.1, with no more read for it than it took, and its file closed', async () => {
    await using server = await started('HTTP/1.1', { viewerStallMs: 300 });
    await server.videos.giveFile(videoId, 'mp4', Buffer.alloc(film), 'video/mp4');
    const socket = net.connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await waitUntil(() => server.dropped.length === 1);
    expect(server.dropped).toEqual(['viewer-stalled']);
    expect(server.bytesOut()).toBeLessThan(film / 2);
    await waitUntil(() => openFilesIn(server.videos.folder).length === 0);
    socket.destroy();
  });

  it('is cut off on HTTP/2, and its file closed', async () => {
    await using server = await started('HTTP/2', { viewerStallMs: 300 });
    await server.videos.giveFile(videoId, 'mp4', Buffer.alloc(film), 'video/mp4');
    const client = http2.connect(`http://127.0.0.1:${server.port}`);
    const stalled = client.request({ ':path': path });
    stalled.on('error', () => {});
    stalled.pause();
    await waitUntil(() => server.dropped.length === 1 && stalled.closed);
    await waitUntil(() => openFilesIn(server.videos.folder).length === 0);
    // A window of 256 KiB, and what the client's own window takes.
    expect(server.bytesOut()).toBeLessThan(megabyte);
    client.destroy();
  });

  it('and asks for more and more opens only so many files, which are closed when it is gone', async () => {
    await using server = await started('HTTP/1.1', { viewerStallMs: 300 });
    await server.videos.giveFile(videoId, 'mp4', Buffer.alloc(film), 'video/mp4');
    const socket = net.connect(server.port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(500));
    await waitUntil(() => openFilesIn(server.videos.folder).length > 1);
    expect(openFilesIn(server.videos.folder).length).toBeLessThanOrEqual(128);
    await waitUntil(() => server.dropped.length === 1);
    await waitUntil(() => openFilesIn(server.videos.folder).length === 0);
    socket.destroy();
  });
});
