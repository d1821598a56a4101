import { once } from 'node:events';
import { utimes, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { closedStream } from '../support/closed-stream.ts';
import { stateOfPage } from '../support/player-page.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { privateStream, protocols, publicStream, startDelivery } from './delivery-fixture.ts';

const jpeg = Buffer.from('ffd8ffe000104a46', 'hex');
const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(20)]);

/** An open stream of events on a connection of its own. */
async function listen(port: number) {
  const request = http.get({ port, host: '127.0.0.1', path: `/live/${publicStream}/events`, agent: false });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let text = '';
  let isEnded = false;
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
  });
  response.on('end', () => {
    isEnded = true;
  });
  response.on('error', () => {});
  return {
    response,
    text: () => text,
    states: () => [...text.matchAll(/^event: state\ndata: (.*)\n\n/gm)].map(match => JSON.parse(match[1]!)),
    isEnded: () => isEnded,
    close: () => request.destroy(),
  };
}

describe.each(protocols)('the player page over %s', protocol => {
  it('shows the stream with its name escaped and its state, under a strict policy', async () => {
    await using server = await startDelivery(protocol);
    server.begin('b1');
    const answer = await server.ask(`/live/${publicStream}?embed`, { 'accept-encoding': 'gzip' });
    const page = gunzipSync(answer.body).toString();
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    expect(answer.headers['x-frame-options']).toBeUndefined();
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect(page).toContain('<title>Pier &#60;cam&#62;</title>');
    expect(stateOfPage(page)).toMatchObject({ live: true, broadcastId: 'b1', title: 'Pier <cam>' });
    expect(page).not.toContain('{{');
    expect((await server.ask(`/live/${publicStream}?embed`)).body.toString()).toContain('<!doctype html>');
  });

  it('is politely missing for unknown and private streams', async () => {
    await using server = await startDelivery(protocol);
    for (const id of ['nobody', 'liUnknown000000000000000', privateStream, '<script>', '%00']) {
      const answer = await server.ask(`/live/${encodeURI(id)}`);
      expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
      expect(answer.body.toString()).toContain('Stream not found');
      expect(answer.body.toString()).not.toContain('nobody');
    }
  });

  it('tells calendars of a planned start while it is announced, if everybody may watch', async () => {
    const startsAtMs = Date.UTC(2130, 2, 4, 19, 30);
    const unplanned = 'liUnplanned0000000000000';
    const stream = { ...closedStream, projectId: 'prOfTest', name: 'Pier, cam', public: true };
    const found: Readonly<Record<string, typeof stream & { startsAtMs?: number }>> = {
      [publicStream]: { ...stream, startsAtMs },
      [privateStream]: { ...stream, startsAtMs, public: false },
      [unplanned]: stream,
    };
    await using server = await startDelivery(protocol, {
      publicUrl: () => 'https://live.example.org',
      streams: { find: async id => found[id], thumbnailPath: async () => undefined },
    });
    const path = `/live/${publicStream}/start.ics`;
    const answer = await server.ask(path);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/calendar; charset=utf-8');
    const lines = answer.body.toString().split('\r\n');
    expect(lines).toContain('DTSTART:21300304T193000Z');
    expect(lines).toContain('SUMMARY:Pier\\, cam');
    const page = async (id: string, query = '') => {
      const { body } = await server.ask(`/live/${id}${query}`, { accept: 'text/html' });
      return body.toString();
    };
    expect(await page(publicStream)).toContain(`href="${path}"`);
    expect(await page(unplanned)).not.toContain('start.ics');
    for (const id of [privateStream, unplanned, 'liNobody0000000000000000'])
      expect([id, (await server.ask(`/live/${id}/start.ics`)).status]).toEqual([id, 404]);
    server.begin('b1');
    expect((await server.ask(path)).status).toBe(404);
  });

  it('brings its files along, to be kept for ever', async () => {
    await using server = await startDelivery(protocol);
    const page = (await server.ask(`/live/${publicStream}?embed`)).body.toString();
    const links = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(match => match[1]!);
    expect(links.length).toBeGreaterThan(3);
    for (const link of links) {
      const answer = await server.ask(link, { 'accept-encoding': 'gzip' });
      expect([link, answer.status, answer.headers['content-encoding']]).toEqual([link, 200, 'gzip']);
      expect(answer.headers['cache-control']).toBe('max-age=31536000, immutable');
      expect(answer.headers['content-type']).toMatch(/^(text\/(javascript|css)|image\/svg\+xml)/);
    }
  });

  it('tells other sites its title, image and player, and how to embed it in its own shape', async () => {
    await using server = await startDelivery(protocol, { publicUrl: () => 'https://live.example.org' });
    const base = `https://live.example.org/live/${publicStream}`;
    const page = async () => (await server.ask(`/live/${publicStream}`)).body.toString();
    const offline = await page();
    for (const tag of [
      `<link rel="canonical" href="${base}">`,
      `<link rel="alternate" type="application/json+oembed" href="${base}/oembed.json" title="Pier &#60;cam&#62;">`,
      '<meta property="og:title" content="Pier &#60;cam&#62;">',
      `<meta property="og:image" content="https://live.example.org/${publicStream}/thumbnail.jpg">`,
      `<meta property="og:video" content="${base}">`,
      `<meta property="og:video" content="https://live.example.org/${publicStream}.m3u8">`,
      '<meta property="og:video:type" content="application/vnd.apple.mpegurl">',
      '<meta name="twitter:card" content="player">',
    ]) {
      expect(offline).toContain(tag);
    }
    expect(offline).not.toContain('noindex');
    server.begin('b1').videoSize = { width: 720, height: 1280 };
    expect(await page()).toContain('<meta property="og:video:height" content="1280">');
    const ask = async (query = '') =>
      JSON.parse((await server.ask(`/live/${publicStream}/oembed.json${query}`)).body.toString());
    const embed = await ask('?maxheight=320');
    expect(embed).toMatchObject({ type: 'video', title: 'Pier <cam>', width: 180, height: 320 });
    expect(embed.html).toContain(`src="${base}"`);
    for (const id of [privateStream, 'liUnknown000000000000000']) {
      const { status, headers } = await server.ask(`/live/${id}/oembed.json`);
      expect([status, headers['content-type']]).toEqual([404, 'application/json']);
    }
    expect(server.requests).toContainEqual(['oembed', 200]);
  });

  it('can ask for the state', async () => {
    await using server = await startDelivery(protocol);
    const path = `/live/${publicStream}/state`;
    const offline = await server.ask(path);
    expect(JSON.parse(offline.body.toString())).toEqual({ live: false, broadcastId: null });
    expect(offline.headers['content-type']).toBe('application/json');
    expect(offline.headers['cache-control']).toBe('no-store');
    server.begin('b1');
    expect(JSON.parse((await server.ask(path)).body.toString())).toEqual({ live: true, broadcastId: 'b1' });
  });

  it('has its script and its state for pages of other sites', async () => {
    await using server = await startDelivery(protocol);
    server.begin('b1');
    const state = await server.ask(`/live/${publicStream}/player.json`, { origin: 'https://other.example' });
    expect(state.headers['access-control-allow-origin']).toBe('*');
    expect(JSON.parse(state.body.toString())).toEqual({
      liveStreamId: publicStream,
      title: 'Pier <cam>',
      live: true,
      broadcastId: 'b1',
      hls: `/${publicStream}.m3u8`,
      query: '',
      poster: `/${publicStream}/thumbnail.jpg`,
      hasThumbnail: false,
      theme: null,
      ultraLowLatency: false,
      viewerClips: false,
      serverTimeMs: expect.any(Number),
    });
    const script = await server.ask('/player.js');
    expect([script.status, script.headers['cache-control']]).toEqual([200, 'no-cache']);
    expect(script.headers['access-control-allow-origin']).toBe('*');
    expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
    const files = [...script.body.toString().matchAll(/"\.(\/assets\/[^"]+)"/g)].map(match => match[1]!);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      const answer = await server.ask(file);
      expect([file, answer.status, answer.headers['access-control-allow-origin']]).toEqual([file, 200, '*']);
    }
    expect((await server.ask('/player.js', { 'if-none-match': script.headers.etag as string })).status).toBe(
      304,
    );
  });
});

describe('events of a stream', () => {
  it('tell the state at once and at each change', async () => {
    await using server = await startDelivery('HTTP/1.1');
    const client = await listen(server.port);
    expect(client.response.headers['content-type']).toBe('text/event-stream');
    await waitUntil(() => client.states().length === 1);
    server.begin('b1');
    server.tellChange();
    server.current.live = false;
    server.tellChange();
    await waitUntil(() => client.states().length === 3);
    expect(client.states()).toEqual([
      { live: false, broadcastId: null },
      { live: true, broadcastId: 'b1' },
      { live: false, broadcastId: null },
    ]);
    client.close();
  });

  it('say now and then that they are alive', async () => {
    await using server = await startDelivery('HTTP/1.1', { heartbeatMs: 20 });
    const client = await listen(server.port);
    await waitUntil(() => client.text().includes('\n:\n\n:\n\n'));
    client.close();
  });

  it('are bounded by stream and in all, and places become free again', async () => {
    await using server = await startDelivery('HTTP/1.1', { maxEventClientsPerStream: 2 });
    const first = await listen(server.port);
    const second = await listen(server.port);
    const third = await listen(server.port);
    expect([first, second, third].map(({ response }) => response.statusCode)).toEqual([200, 200, 503]);
    expect(third.response.headers['retry-after']).toBe('10');
    first.close();
    await waitUntil(async () => {
      const again = await listen(server.port);
      again.close();
      return again.response.statusCode === 200;
    });
    second.close();
    await using small = await startDelivery('HTTP/1.1', { maxEventClients: 0 });
    expect((await listen(small.port)).response.statusCode).toBe(503);
  });

  it('listen to the stream only while somebody listens to them', async () => {
    await using server = await startDelivery('HTTP/1.1');
    const clients = [await listen(server.port), await listen(server.port)];
    expect(server.listeners.size).toBe(1);
    for (const client of clients) client.close();
    await waitUntil(() => server.listeners.size === 0);
  });

  it('end when the server drains, and do not begin again', async () => {
    await using server = await startDelivery('HTTP/1.1');
    const client = await listen(server.port);
    await server.delivery.drain();
    await waitUntil(() => client.isEnded());
    expect((await listen(server.port)).response.statusCode).toBe(503);
    server.begin('b1');
    expect((await server.ask(`/${publicStream}.m3u8`)).status).toBe(200);
  });
});

describe('the thumbnail', () => {
  const path = `/${publicStream}/thumbnail.jpg`;

  it('is a placeholder JPEG until there is an image', async () => {
    await using server = await startDelivery('HTTP/1.1');
    server.stream.thumbnail = join(await testTempDir(), 'not-there');
    const answer = await server.ask(path);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'image/jpeg']);
    expect(answer.body.subarray(0, 3).toString('hex')).toBe('ffd8ff');
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect((await server.ask(path, { 'if-none-match': answer.headers.etag! })).status).toBe(304);
  });

  it('is the uploaded image with the type of its bytes, also after another upload', async () => {
    await using server = await startDelivery('HTTP/1.1');
    server.stream.thumbnail = join(await testTempDir(), 'thumbnail');
    await writeFile(server.stream.thumbnail, jpeg);
    const first = await server.ask(path);
    expect([first.headers['content-type'], first.body.equals(jpeg)]).toEqual(['image/jpeg', true]);
    expect(first.headers['cache-control']).toBe('max-age=60');
    await writeFile(server.stream.thumbnail, png);
    await utimes(server.stream.thumbnail, 1, 1);
    const second = await server.ask(path, { 'if-none-match': first.headers.etag! });
    expect([second.status, second.headers['content-type']]).toEqual([200, 'image/png']);
    expect(second.body.equals(png)).toBe(true);
  });

  it('is a frame of what is on where no image was uploaded, and may be kept for ten seconds', async () => {
    const frame = { body: jpeg, contentType: 'image/jpeg', etag: '"frame"' };
    const asked: string[] = [];
    const frames = {
      hasFrame: (broadcastId: string) => broadcastId === 'b1',
      frame: async (broadcastId: string) => {
        asked.push(broadcastId);
        return broadcastId === 'b1' ? frame : undefined;
      },
    };
    await using server = await startDelivery('HTTP/1.1', { frames });
    const isShown = async () =>
      stateOfPage((await server.ask(`/live/${publicStream}?embed`)).body.toString()).hasThumbnail;
    expect((await server.ask(path)).headers.etag).toBe('"placeholder"');
    expect(await isShown()).toBe(false);
    expect(asked).toEqual([]);
    server.begin('b1');
    const { headers, body } = await server.ask(path);
    expect([headers.etag, headers['cache-control'], body.equals(jpeg)]).toEqual([
      ...['"frame"', 'max-age=10', true],
    ]);
    expect(await isShown()).toBe(true);
    server.begin('b2');
    expect((await server.ask(path)).headers.etag).toBe('"placeholder"');
    server.stream.thumbnail = join(await testTempDir(), 'thumbnail');
    await writeFile(server.stream.thumbnail, png);
    expect((await server.ask(path)).headers['content-type']).toBe('image/png');
    expect(asked).toEqual(['b1', 'b2']);
  });

  it('is never something that is no image', async () => {
    await using server = await startDelivery('HTTP/1.1');
    server.stream.thumbnail = join(await testTempDir(), 'thumbnail');
    await writeFile(server.stream.thumbnail, '<script>alert(1)</script>');
    const answer = await server.ask(path);
    expect([answer.headers['content-type'], answer.body.includes('script')]).toEqual(['image/jpeg', false]);
  });
});
