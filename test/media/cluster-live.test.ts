import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseMediaPlaylist } from '../../scripts/parse-media-playlist.ts';
import {
  basicAuthorization,
  type CreatedStream,
  createLiveStream,
  type ServerProcess,
} from '../../scripts/server-process.ts';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { slotMs, slotsPerSheet } from '../../src/shared/limits/live-storyboard.ts';
import { clusterMissing, LiveCluster, publishTo } from '../support/live-cluster.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { waitUntil } from '../support/wait-until.ts';

const cluster = new LiveCluster({ MILLRACE_LIVE_RECONNECT_GRACE: '20s' });

async function api({ baseUrl, productionKey }: ServerProcess, method: string, path: string) {
  const headers = { authorization: basicAuthorization(productionKey) };
  const answer = await fetch(`${baseUrl}${path}`, { method, headers });
  const text = await answer.text();
  return text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>);
}

/** Offer of an encoder, which is rejected before its media matters. */
const offer = readFileSync(new URL('../fixtures/whip-offer.sdp', import.meta.url), 'utf8');

function sendOffer({ baseUrl }: ServerProcess, path: string): Promise<Response> {
  const headers = { 'content-type': 'application/sdp' };
  return fetch(`${baseUrl}${path}`, { method: 'POST', redirect: 'manual', headers, body: offer });
}

async function sendClip({ baseUrl }: ServerProcess, path: string, redirect: 'follow' | 'manual') {
  const headers = { 'content-type': 'application/json' };
  const body = '{"lastSeconds":5}';
  const answer = await fetch(`${baseUrl}${path}`, { method: 'POST', redirect, headers, body });
  await answer.text();
  return { status: answer.status, location: answer.headers.get('location') };
}

/** The address of the media, as one server tells it; undefined while nothing can be played. */
async function mediaUrlAt({ baseUrl }: ServerProcess, { liveStreamId }: CreatedStream) {
  const address = `${baseUrl}/${liveStreamId}.m3u8`;
  const answer = await fetch(address);
  const text = await answer.text();
  if (!answer.ok) return undefined;
  return new URL(parseMultivariantPlaylist(text).variants[0]!.uri, address);
}

/** The list as a viewer of one server gets it. */
async function listAt(server: ServerProcess, stream: CreatedStream) {
  const mediaUrl = await mediaUrlAt(server, stream);
  const answer = mediaUrl && (await fetch(mediaUrl).catch(() => undefined));
  return answer?.ok ? { mediaUrl: mediaUrl!, list: parseMediaPlaylist(await answer.text()) } : undefined;
}

/** The newest frames of the seek bar, asked of this server whoever has them; undefined while there are none. */
async function storyboardAt(server: ServerProcess, stream: CreatedStream) {
  const found = await listAt(server, stream);
  const last = found?.list.segments.findLast(({ uri }) => uri.startsWith('segment-'));
  if (found === undefined || last === undefined) return undefined;
  const slot = Math.floor((last.programDateTimeMs! + last.durationSeconds * 1000) / slotMs) - 1;
  const name = `${Math.floor(slot / slotsPerSheet)}-${(slot % slotsPerSheet) + 1}.jpg`;
  const { pathname } = new URL(`../storyboard/${name}`, found.mediaUrl);
  const answer = await fetch(`${server.baseUrl}${pathname}`);
  await answer.arrayBuffer();
  return answer.ok ? answer : undefined;
}

/** Waits until a server's viewers get so many segments from the server at `port`. */
function untilListed(server: ServerProcess, stream: CreatedStream, port: number, count = 2) {
  return waitUntil(
    async () => {
      const found = await listAt(server, stream);
      if (found === undefined || Number(found.mediaUrl.port) !== port) return undefined;
      const published = found.list.segments.filter(({ uri }) => uri.startsWith('segment-'));
      return published.length >= count ? { ...found, newest: newestOf(found.list) } : undefined;
    },
    { what: `segments of port ${port}` },
  );
}

function newestOf(list: ReturnType<typeof parseMediaPlaylist>): number {
  return list.mediaSequence + list.segments.length;
}

if (clusterMissing !== undefined) console.log(`skipped: ${clusterMissing}`);

describe.skipIf(clusterMissing !== undefined).concurrent('live across servers', () => {
  let a: ServerProcess;
  let b: ServerProcess;
  let c: ServerProcess;

  beforeAll(async () => {
    // The first one creates the account.
    a = await cluster.start();
    [b, c] = await Promise.all([cluster.start(), cluster.start()]);
  });

  const newStream = () => createLiveStream(a.baseUrl, a.productionKey, 'a stream', { viewerClips: true });

  test('every server answers for a broadcast, and one of them receives it', async () => {
    const stream = await newStream();
    const path = `/live-streams/${stream.liveStreamId}`;
    await using publisher = publishTo(a, stream);
    await untilListed(a, stream, a.httpPort);
    await untilListed(b, stream, a.httpPort);
    expect(await api(b, 'GET', path)).toMatchObject({ broadcasting: true });
    expect(await (await fetch(`${c.baseUrl}/live/${stream.liveStreamId}/state`)).json()).toMatchObject({
      live: true,
    });
    await waitUntil(async () => (await api(c, 'GET', `${path}/health`))?.broadcasting === true, {
      what: 'the health at another server',
    });

    const second = await RtmpClient.connect({ port: b.rtmpPort });
    expect(await second.publish(stream.streamKey)).toMatchObject({ level: 'error' });
    await second.close();
    const overWhip = await sendOffer(b, `/whip/${stream.streamKey}`);
    expect(overWhip.status).toBe(409);
    const overWhep = await sendOffer(b, `/whep/${stream.liveStreamId}?token=x`);
    const location = `http://localhost:${a.httpPort}/whep/${stream.liveStreamId}?token=x`;
    expect([overWhep.status, overWhep.headers.get('location')]).toEqual([307, location]);

    const clipPath = `/clips/${stream.liveStreamId}`;
    expect(await sendClip(b, clipPath, 'manual')).toMatchObject({
      status: 307,
      location: `http://localhost:${a.httpPort}${clipPath}`,
    });
    await waitUntil(async () => (await sendClip(b, clipPath, 'follow')).status === 201, { what: 'a clip' });
    // The live stream does not offer WHEP there.
    expect((await fetch(location, { method: 'POST' })).status).toBe(406);
    expect(publisher.pid).toBeDefined();

    const sheet = await waitUntil(async () => storyboardAt(b, stream), { what: 'frames of the seek bar' });
    expect(sheet.headers.get('content-type')).toBe('image/jpeg');
    expect(Number(new URL(sheet.url).port)).toBe(a.httpPort);

    await api(b, 'PUT', `${path}/complete`);
    await waitUntil(async () => (await api(c, 'GET', path))?.broadcasting === false, { what: 'the end' });
    const { data } = (await api(c, 'GET', `${path}/broadcasts`)) as { data: { endReason: string }[] };
    expect(data.map(({ endReason }) => endReason)).toEqual(['completed']);
  });

  test('a publisher that reconnects to another server continues the broadcast', async () => {
    const stream = await newStream();
    await using first = publishTo(a, stream);
    const before = await untilListed(c, stream, a.httpPort);
    await first.kill();
    await using second = publishTo(b, stream);
    const after = await untilListed(c, stream, b.httpPort);
    expect(after.mediaUrl.pathname).toBe(before.mediaUrl.pathname);
    expect(after.list.mediaSequence).toBeGreaterThan(before.newest);
    expect(after.list.discontinuitySequence).toBeGreaterThanOrEqual(before.list.discontinuitySequence);
    // Viewers that know the former address are sent on.
    const redirected = await fetch(before.mediaUrl);
    expect(Number(new URL(redirected.url).port)).toBe(b.httpPort);
    expect(parseMediaPlaylist(await redirected.text()).mediaSequence).toBeGreaterThan(before.newest);
    // And back.
    await second.kill();
    await using _third = publishTo(a, stream);
    const back = await untilListed(c, stream, a.httpPort);
    expect(back.list.mediaSequence).toBeGreaterThan(after.newest);
    await api(c, 'PUT', `/live-streams/${stream.liveStreamId}/complete`);
    const path = `/live-streams/${stream.liveStreamId}`;
    await waitUntil(async () => (await api(c, 'GET', path))?.broadcasting === false, { what: 'the end' });
    const { data } = (await api(c, 'GET', `${path}/broadcasts`)) as { data: unknown[] };
    expect(data).toHaveLength(1);
  });

  test('a server that drains leaves its broadcast to the one to which the publisher connects', async () => {
    const d = await cluster.start();
    const stream = await newStream();
    await using first = publishTo(d, stream);
    const before = await untilListed(c, stream, d.httpPort);
    d.child.kill('SIGTERM');
    await first.exited;
    await using _second = publishTo(b, stream);
    const after = await untilListed(c, stream, b.httpPort);
    expect(after.mediaUrl.pathname).toBe(before.mediaUrl.pathname);
    expect(after.list.mediaSequence).toBeGreaterThan(before.newest);
    expect((await d.exited).code).toBe(0);
  });

  test('a publisher continues on another server at once when its own is killed', async () => {
    const d = await cluster.start();
    const stream = await newStream();
    await using first = publishTo(d, stream);
    const before = await untilListed(c, stream, d.httpPort);
    d.child.kill('SIGKILL');
    await first.exited;
    const startedMs = performance.now();
    await using _second = publishTo(b, stream);
    const after = await untilListed(c, stream, b.httpPort, 1);
    console.log(`continued after ${Math.round(performance.now() - startedMs)} ms`);
    expect(after.mediaUrl.pathname).toBe(before.mediaUrl.pathname);
    expect(after.list.mediaSequence).toBeGreaterThan(before.newest);
  });

  test('a recording goes on with its broadcast, and becomes one video', async () => {
    const d = await cluster.start();
    const stream = await newStream();
    const body = JSON.stringify({ record: true });
    const path = `/live-streams/${stream.liveStreamId}`;
    const headers = {
      authorization: basicAuthorization(a.productionKey),
      'content-type': 'application/json',
    };
    expect((await fetch(`${a.baseUrl}${path}`, { method: 'PATCH', headers, body })).status).toBe(200);
    await using first = publishTo(d, stream);
    await untilListed(c, stream, d.httpPort, 8);
    d.child.kill('SIGKILL');
    await first.exited;
    await using _second = publishTo(b, stream);
    await untilListed(c, stream, b.httpPort, 4);
    await api(c, 'PUT', `${path}/complete`);
    const videos = async () => {
      const answer = await api(c, 'GET', `/videos?liveStreamId=${stream.liveStreamId}`);
      return (answer?.data ?? []) as { videoId: string }[];
    };
    const [video] = await waitUntil(async () => ((await videos()).length > 0 ? await videos() : undefined), {
      what: 'the video',
    });
    // Waits for the joined files to be encoded: until then, the duration is that of a part.
    await waitUntil(
      async () => {
        const status = await api(c, 'GET', `/videos/${video!.videoId}/status`);
        const { encoding } = status as {
          encoding?: { playable?: boolean; metadata?: { duration?: number } };
        };
        return encoding?.playable === true && (encoding.metadata?.duration ?? 0) >= 7;
      },
      { what: 'a video of both parts' },
    );
    expect(await videos()).toHaveLength(1);
  });

  test('a broadcast whose server was killed ends when no publisher comes back', async () => {
    const d = await cluster.start();
    const stream = await newStream();
    await using first = publishTo(d, stream);
    await untilListed(c, stream, d.httpPort);
    d.child.kill('SIGKILL');
    await first.exited;
    const path = `/live-streams/${stream.liveStreamId}`;
    await waitUntil(async () => (await api(c, 'GET', path))?.broadcasting === false, { what: 'the end' });
    const { data } = (await api(c, 'GET', `${path}/broadcasts`)) as { data: { endReason: string }[] };
    expect(data.map(({ endReason }) => endReason)).toEqual(['publisher-gone']);
  });
});
