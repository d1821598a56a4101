import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../support/wait-until.ts';
import {
  type HttpReply,
  privateStream,
  protocols,
  publicStream,
  startDelivery,
  target,
} from './delivery-fixture.ts';

const playlist = `/${publicStream}/b1/source/index.m3u8`;
const part = `/${publicStream}/b1/source/part-1.m4s`;
const segment = `/${publicStream}/b1/source/segment-1.m4s`;

function expectCors(answer: HttpReply): void {
  expect(answer.headers['access-control-allow-origin']).toBe('*');
  expect(answer.headers['access-control-expose-headers']).toMatch(/Age.*Date/);
}

describe.each(protocols)('delivery over %s', protocol => {
  async function started() {
    const server = await startDelivery(protocol);
    const broadcast = server.begin('b1');
    broadcast.mediaByName.set('part-1.m4s', [Buffer.from('0123456789')]);
    broadcast.mediaByName.set('segment-1.m4s', [Buffer.from('0123'), Buffer.from('456'), Buffer.from('789')]);
    return Object.assign(server, { broadcast });
  }

  it('gives playlists gzipped only to those who ask for it', async () => {
    await using server = await started();
    for (const path of [`/${publicStream}.m3u8`, playlist]) {
      const zipped = await server.ask(path, { 'accept-encoding': 'gzip, br' });
      const plain = await server.ask(path, { 'accept-encoding': 'identity' });
      const silent = await server.ask(path);
      expect(zipped.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
      for (const answer of [plain, silent]) {
        expect(answer.headers['content-encoding']).toBeUndefined();
        expect(answer.body.toString()).toMatch(/^#EXTM3U/);
      }
      for (const answer of [zipped, plain, silent]) {
        expect(answer.status).toBe(200);
        expect(answer.headers.vary).toBe('Accept-Encoding');
        expect(answer.headers['content-type']).toBe('application/vnd.apple.mpegurl');
        expect(answer.headers['content-length']).toBe(String(answer.body.length));
        expect(answer.headers.date).toBeDefined();
        expectCors(answer);
      }
    }
  });

  it('says how long each answer may be kept', async () => {
    await using server = await started();
    const lifetimeOf = async (path: string) => (await server.ask(path)).headers['cache-control'];
    expect(await lifetimeOf(`/${publicStream}.m3u8`)).toBe('no-cache');
    expect(await lifetimeOf(playlist)).toBe('max-age=1');
    expect(await lifetimeOf(`${playlist}?_HLS_msn=3`), 'listed already').toBe('max-age=1');
    const held = lifetimeOf(`${playlist}?_HLS_msn=next`);
    await waitUntil(() => server.broadcast.waiting.length > 0);
    server.broadcast.release();
    expect(await held, 'waited for').toBe(`max-age=${6 * target}`);
    expect(await lifetimeOf(part)).toBe('max-age=60, immutable');
    server.broadcast.ended = true;
    expect(await lifetimeOf(playlist)).toBe(`max-age=${6 * target}`);
  });

  it('lets nobody cache an error of a live stream, but edges one that all waited for', async () => {
    await using server = await started();
    for (const [path, status] of [
      [`${playlist}?_HLS_msn=bad`, 400],
      [`${playlist}?_HLS_msn=broken`, 500],
      [`${playlist}?plain404=1`, 404],
      [`/${publicStream}/b1/source/part-77.m4s`, 404],
      [`/${publicStream}/b1/source/gap-1.m4s`, 404],
      [`/${publicStream}/b2/source/index.m3u8`, 404],
      [`/${privateStream}.m3u8`, 404],
    ] as const) {
      const answer = await server.ask(path);
      expect([path, answer.status, answer.headers['cache-control']]).toEqual([path, status, 'no-store']);
    }
    const late = await server.ask(`${playlist}?_HLS_msn=late`);
    expect([late.status, late.headers['cache-control']]).toEqual([503, 'max-age=0, s-maxage=1']);
  });

  it('answers 304 without a body to whoever has it already', async () => {
    await using server = await started();
    for (const path of [`/${publicStream}.m3u8`, playlist, part]) {
      const first = await server.ask(path, { 'accept-encoding': 'gzip' });
      const again = await server.ask(path, { 'if-none-match': `"other", ${first.headers.etag}` });
      expect([again.status, again.body.length]).toEqual([304, 0]);
      expect(again.headers.etag).toBe(first.headers.etag);
      expect(again.headers['cache-control']).toBe(first.headers['cache-control']);
      expectCors(again);
      expect((await server.ask(path, { 'if-none-match': '"other"' })).status).toBe(200);
    }
  });

  it('gives whole media and exact ranges, never gzipped', async () => {
    await using server = await started();
    const whole = await server.ask(segment, { 'accept-encoding': 'gzip' });
    expect([whole.status, whole.body.toString()]).toEqual([200, '0123456789']);
    expect(whole.headers['content-encoding']).toBeUndefined();
    expect(whole.headers['accept-ranges']).toBe('bytes');
    expect(whole.headers['content-type']).toBe('video/mp4');
    for (const [range, body, contentRange] of [
      ['bytes=0-0', '0', 'bytes 0-0/10'],
      ['bytes=2-7', '234567', 'bytes 2-7/10'],
      ['bytes=8-', '89', 'bytes 8-9/10'],
      ['bytes=-3', '789', 'bytes 7-9/10'],
    ] as const) {
      const answer = await server.ask(segment, { range });
      expect([answer.status, answer.body.toString()]).toEqual([206, body]);
      expect(answer.headers['content-range']).toBe(contentRange);
      expect(answer.headers['content-length']).toBe(String(body.length));
    }
    const beyond = await server.ask(segment, { range: 'bytes=10-' });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */10']);
    expectCors(beyond);
    const several = await server.ask(segment, { range: 'bytes=0-1,4-5' });
    expect([several.status, several.body.length]).toEqual([200, 10]);
  });

  it('gives the range only while the file is still the one meant', async () => {
    await using server = await started();
    const range = 'bytes=0-1';
    expect((await server.ask(part, { range, 'if-range': '"part-1.m4s"' })).status).toBe(206);
    expect((await server.ask(part, { range, 'if-range': '"older"' })).status).toBe(200);
  });

  it('answers HEAD like GET, without a body', async () => {
    await using server = await started();
    for (const path of [`/${publicStream}.m3u8`, playlist, part, `/live/${publicStream}`, '/nothing.m3u8']) {
      const get = await server.ask(path, { 'accept-encoding': 'gzip' });
      const head = await server.ask(path, { 'accept-encoding': 'gzip' }, 'HEAD');
      expect([head.status, head.body.length]).toEqual([get.status, 0]);
      expect(head.headers['content-type']).toBe(get.headers['content-type']);
      expect(Number(head.headers['content-length'])).toBeGreaterThan(0);
    }
  });

  // RFC 9110, 14.2: ranges are of GET alone.
  it('says of HEAD how much there is, whatever range it asks for', async () => {
    await using server = await started();
    const whole = await server.ask(part, {}, 'HEAD');
    for (const range of ['bytes=0-1', 'bytes=999999-']) {
      const { status, headers } = await server.ask(part, { range }, 'HEAD');
      expect([status, headers['content-range']]).toEqual([200, undefined]);
      expect(headers['content-length']).toBe(whole.headers['content-length']);
    }
  });

  it('answers a preflight for ranges from any site', async () => {
    await using server = await started();
    for (const path of [playlist, part, `/${publicStream}/b9/source/none.m4s`]) {
      const answer = await server.ask(path, { origin: 'https://example.org' }, 'OPTIONS');
      expect([answer.status, answer.body.length]).toEqual([204, 0]);
      expect(answer.headers['access-control-allow-headers']).toMatch(/\brange\b/);
      expect(answer.headers['access-control-allow-methods']).toBe('GET, HEAD, OPTIONS');
      expectCors(answer);
    }
  });

  it('refuses other methods and names those that work', async () => {
    await using server = await started();
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const answer = await server.ask(part, {}, method);
      expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
      expectCors(answer);
    }
  });

  it('says 404 to everything that is not there, and to other sites too', async () => {
    await using server = await started();
    for (const path of [
      '/nothing.m3u8',
      `/${publicStream}/b2/source/index.m3u8`,
      `/${publicStream}/b1/source/none.m4s`,
      `/${publicStream}/b1/source/..%2f..%2fetc%2fpasswd`,
      `/${publicStream}/b1/source/%00`,
      `/${publicStream}/%zz/source/index.m3u8`,
      '/liUnknown000000000000000/b1/source/index.m3u8',
      '/liUnknown000000000000000.m3u8',
      '/liUnknown000000000000000/thumbnail.jpg',
      '/assets/none.js',
      '/assets/../package.json',
      `/${privateStream}.m3u8`,
      `/${privateStream}/b1/source/index.m3u8`,
      `/${privateStream}/b1/source/part-1.m4s`,
      `/${privateStream}/thumbnail.jpg`,
      `/live/${privateStream}/state`,
      `/live/${privateStream}/events`,
    ]) {
      const answer = await server.ask(path);
      expect([path, answer.status]).toEqual([path, 404]);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(JSON.parse(answer.body.toString())).toMatchObject({ status: 404 });
      expectCors(answer);
    }
  });

  it('sends an error in the form that the client accepts', async () => {
    await using server = await started();
    const errorFor = async (accept: string | undefined) => {
      const answer = await server.ask('/assets/none.js', accept === undefined ? {} : { accept });
      expect([answer.status, answer.headers.vary]).toEqual([404, 'Accept']);
      return [answer.headers['content-type'], answer.body.toString()];
    };
    const json = JSON.stringify({
      type: '/docs/errors/resource-not-found',
      title: 'The requested resource could not be found.',
      status: 404,
      detail: 'Not found.',
    });
    for (const accept of [undefined, '*/*', 'application/json, text/plain', 'image/avif,*/*;q=0.8']) {
      expect(await errorFor(accept)).toEqual(['application/json', json]);
    }
    const ofBrowser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    expect(await errorFor(ofBrowser)).toEqual([
      'text/html; charset=utf-8',
      expect.stringMatching(/^<!doctype html>.*<title>404 Not Found<.*<p>Not found\.<\/p>/s),
    ]);
    expect(await errorFor('application/vnd.apple.mpegurl')).toEqual([
      'text/plain; charset=utf-8',
      'Not found.\n',
    ]);
  });

  it('refuses an address that is too long', async () => {
    await using server = await started();
    expect((await server.ask(`${playlist}?token=${'x'.repeat(3000)}`)).status).toBe(414);
    expect((await server.ask(`${playlist}?token=${'x'.repeat(1000)}`)).status).toBe(200);
  });

  it('leaves the API to others', async () => {
    await using server = await started();
    for (const path of ['/', '/live-streams', '/auth/api-key', `/live-streams/${publicStream}`]) {
      expect((await server.ask(path)).body.toString()).toBe('the API');
    }
    expect(server.requests).toEqual([]);
  });

  it('has no multivariant playlist before the first segment, nor that of the broadcast before', async () => {
    await using server = await started();
    const path = `/${publicStream}.m3u8`;
    expect((await server.ask(path)).body.toString()).toContain('b1');
    server.broadcast.hasSegment = false;
    expect((await server.ask(path)).status).toBe(404);
    server.broadcast.hasSegment = true;
    server.current.live = false;
    expect((await server.ask(path)).status).toBe(200);
  });

  it('holds a blocking reload and a hinted part, then sends them whole', async () => {
    await using server = await started();
    const held = [server.ask(`${playlist}?_HLS_msn=next`), server.ask(part.replace('part-1', 'part-next'))];
    await waitUntil(() => server.broadcast.waiting.length === 2);
    server.broadcast.mediaByName.set('part-next.m4s', [Buffer.from('new')]);
    server.broadcast.release();
    const [list, media] = await Promise.all(held);
    expect([list?.status, media?.status, media?.body.toString()]).toEqual([200, 200, 'new']);
    expect(server.broadcast.aborted).toBe(0);
  });

  it('waits once for all viewers of a playlist or part, and sends it to those who stay', async () => {
    await using server = await started();
    const next = part.replace('part-1', 'part-next');
    const leave = new AbortController();
    const gone = [`${playlist}?_HLS_msn=next`, next].map(path => server.ask(path, {}, 'GET', leave.signal));
    const left = Promise.allSettled(gone);
    await waitUntil(() => server.broadcast.waiting.length === 2);
    const held = [`${playlist}?_HLS_msn=next`, `${playlist}?_HLS_msn=next`, next, next].map(path =>
      server.ask(path),
    );
    await waitUntil(() => server.delivery.heldRequests === 6);
    leave.abort();
    await left;
    await waitUntil(() => server.delivery.heldRequests === 4);
    expect([server.broadcast.waiting.length, server.broadcast.aborted]).toEqual([2, 0]);
    server.broadcast.mediaByName.set('part-next.m4s', [Buffer.from('new')]);
    server.broadcast.release();
    const answers = await Promise.all(held);
    expect(answers.map(answer => answer.status)).toEqual([200, 200, 200, 200]);
    expect(answers.slice(2).map(answer => answer.body.toString())).toEqual(['new', 'new']);
    expect(server.errors).toEqual([]);
  });

  it('stops waiting for a viewer who has left', async () => {
    await using server = await started();
    const leave = new AbortController();
    const held = server.ask(`${playlist}?_HLS_msn=next`, {}, 'GET', leave.signal);
    await waitUntil(() => server.broadcast.waiting.length === 1);
    leave.abort();
    await expect(held).rejects.toThrow();
    await waitUntil(() => server.broadcast.aborted === 1);
    expect(server.errors).toEqual([]);
  });

  it('ends held requests when it stops', async () => {
    await using server = await started();
    const held = [server.ask(`${playlist}?_HLS_msn=next`), server.ask(part.replace('part-1', 'part-next'))];
    await waitUntil(() => server.broadcast.waiting.length === 2);
    await server.delivery.stop();
    const answers = await Promise.all(held);
    expect(answers.map(answer => answer.status)).toEqual([503, 503]);
    expect(server.broadcast.aborted).toBe(2);
    expect(server.errors).toEqual([]);
  });

  it('answers 500 without the text of a fault, and logs it', async () => {
    await using server = await started();
    const answer = await server.ask(`${playlist}?_HLS_msn=broken`);
    expect(answer.status).toBe(500);
    expect(answer.body.toString()).not.toContain('fault inside');
    expect(server.errors).toEqual(['delivery-failed']);
    expectCors(answer);
  });

  it('counts requests, bytes and viewers', async () => {
    await using server = await started();
    await server.ask(playlist, { 'user-agent': 'one' });
    await server.ask(playlist, { 'user-agent': 'one' });
    await server.ask(playlist, { 'user-agent': 'two' });
    expect([server.viewers.count(publicStream), server.viewers.total()]).toEqual([2, 2]);
    const before = server.bytesOut();
    await server.ask(part);
    expect(server.bytesOut() - before).toBe(10);
    expect(server.requests.at(-1)).toEqual(['media', 200]);
  });

  it('serves a stream that has become private no longer than a second', async () => {
    let nowMs = 0;
    await using server = await startDelivery(protocol, {
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    });
    server.begin('b1');
    expect((await server.ask(playlist)).status).toBe(200);
    server.stream.public = false;
    nowMs += 1001;
    expect((await server.ask(playlist)).status).toBe(404);
  });
});
