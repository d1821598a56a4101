import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import { FragmentReader } from '../../src/media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../src/media/cmaf/movie-box.ts';
import { describeVideoTag, type FlvTag, videoHeaderBytes } from '../../src/media/flv/flv-tag.ts';
import { recordAudioTags } from '../support/audio-tags.ts';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { ffprobe } from '../support/ffmpeg.ts';
import { goodKey, type IngestFixture, startIngest } from '../support/ingest-client.ts';
import { Random } from '../support/random.ts';
import { rtpPacket, sealRtp } from '../support/rtp.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { packetizeVp8, recordVp8 } from '../support/vp8-frames.ts';
import { waitUntil } from '../support/wait-until.ts';
import { WebRtcClient } from '../support/webrtc-client.ts';

interface Encoding {
  readonly qualities: readonly { readonly status: string }[];
}

interface Broadcast {
  readonly state: string;
  readonly endReason?: string;
  readonly videoCodec?: string;
}

const vp8PayloadType = 96;
const opusPayloadType = 111;
const fps = 25;
const frameMs = 1000 / fps;

let server: TestServer;
let ingest: IngestFixture;
beforeAll(async () => {
  [server, ingest] = await Promise.all([
    startServer({ 'live.stopGrace': '100ms', 'recording.enabled': 'true', allowPrivateTargets: 'true' }),
    startIngest({ handshakeTimeoutMs: 60_000, idleTimeoutMs: 60_000 }),
  ]);
});
afterAll(() => Promise.all([server?.stop(), ingest?.server.stop()]));

const onlyVp8 = (offer: string) => offer.replaceAll(/(H264|AV1)\/90000/g, 'VP9/90000');

/** A publisher that sends frames in real time. */
class Vp8Publisher {
  readonly #send: (packet: Buffer) => void;
  readonly #sequenceNumbers = { video: 0, audio: 0 };
  readonly session: string;
  readonly startedMs = performance.now();
  frames = 0;

  private constructor(session: string, send: (packet: Buffer) => void) {
    this.session = session;
    this.#send = send;
  }

  static async start({ streamKey }: CreatedStream, hasAudio = false): Promise<Vp8Publisher> {
    const client = await WebRtcClient.publish(
      `${server.baseUrl}/whip/${streamKey}`,
      server.app.webrtcPort!,
      offer => (hasAudio ? onlyVp8(offer) : onlyVp8(offer).replace(/a=send(only|recv)/, 'a=inactive')),
    );
    const path = await client.pathAt('127.0.0.1', true);
    client.check(path);
    await client.startDtls(path);
    const protection = await client.protection();
    return new Vp8Publisher(client.session, packet => path.send(sealRtp(protection, packet)));
  }

  async send(frame: Buffer): Promise<void> {
    const wait = this.frames * frameMs - (performance.now() - this.startedMs);
    if (wait > 0) await sleep(wait);
    const timestamp = this.frames * frameMs * 90;
    const payloads = packetizeVp8(frame, this.frames++);
    for (const [index, payload] of payloads.entries()) {
      const isMarked = index === payloads.length - 1;
      const sequenceNumber = this.#sequenceNumbers.video++;
      this.#send(rtpPacket({ sequenceNumber, timestamp, payload, isMarked, payloadType: vp8PayloadType }));
    }
  }

  sendAudio(payload: Buffer, atMs: number): void {
    const sequenceNumber = this.#sequenceNumbers.audio++;
    const fields = { sequenceNumber, timestamp: atMs * 48, payload, payloadType: opusPayloadType, ssrc: 8 };
    this.#send(rtpPacket(fields));
  }

  end(): Promise<Response> {
    return fetch(this.session, { method: 'DELETE' });
  }
}

async function broadcastOf({ liveStreamId }: CreatedStream): Promise<Broadcast | undefined> {
  const response = await server.api('GET', `/live-streams/${liveStreamId}/broadcasts`);
  return ((await response.json()) as { data: Broadcast[] }).data[0];
}

function sizeOf(init: Buffer): string {
  let size = '';
  const onInit = ([track]: readonly TrackDescription[]) => {
    size = `${track?.width}x${track?.height}`;
  };
  new FragmentReader({ onInit, onSample: () => {} }).push(init);
  return size;
}

test('VP8 with audio is encoded for viewers, the recording and destinations, also when its size changes', async () => {
  const [large, small, opus] = await Promise.all([
    recordVp8({ size: '320x180', frames: 100, fps, gop: 25 }),
    recordVp8({ size: '162x91', frames: 100, fps, gop: 25 }),
    recordAudioTags('Opus', 10, ['-c:a', 'libopus', '-b:a', '64k', '-ac', '2']),
  ]);
  const packets = opus.slice(1).map(({ body, timestampMs }) => ({ payload: body.subarray(5), timestampMs }));
  const stream = await server.createStream();
  const destination = `${goodKey}-vp8`;
  const serverUrl = `rtmp://127.0.0.1:${ingest.port}/live`;
  await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, {
    restreams: [{ name: 'Mirror', serverUrl, streamKey: destination }],
  });
  const watching = StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
  const publisher = await Vp8Publisher.start(stream, true);
  for (const frame of [...large, ...small]) {
    while (packets[0] !== undefined && packets[0].timestampMs <= publisher.frames * frameMs) {
      const { payload, timestampMs } = packets.shift()!;
      publisher.sendAudio(payload, timestampMs);
    }
    await publisher.send(frame);
  }
  expect(await broadcastOf(stream)).toMatchObject({ state: 'live', videoCodec: 'vp08.00.10.08' });
  await publisher.end();
  const watch = await watching;
  await watch.untilEnd();
  expect(await watch.brokenRules()).toEqual([]);
  const sizes = [...watch.inits.values()].map(async init => sizeOf(await init));
  expect(await Promise.all(sizes)).toEqual(['320x180', '162x90']);
  const viewed = await watch.samples('video');
  expect(viewed.length).toBeGreaterThan(190);

  const received = (): readonly FlvTag[] =>
    ingest.publishers.filter(({ request }) => request.streamKey === destination).flatMap(({ tags }) => tags);
  const videoFrames = (tags: readonly FlvTag[]) =>
    tags.filter(
      ({ kind, body }) =>
        kind === 'video' && ['keyframe', 'frame'].includes(describeVideoTag(body)?.role ?? ''),
    );
  await waitUntil(() => videoFrames(received()).length > 150, { what: 'frames at the destination' });
  expect(videoFrames(received()).every(({ body }) => describeVideoTag(body)!.codec.name === 'H.264')).toBe(
    true,
  );
  expect(videoFrames(received()).every(({ body }) => body.length > videoHeaderBytes(body))).toBe(true);
  // AAC.
  expect(received().some(({ kind, body }) => kind === 'audio' && body[0] === 0xaf)).toBe(true);

  const recording = await waitUntil(
    async () => {
      const answer = await server.api('GET', `/videos?liveStreamId=${stream.liveStreamId}`);
      const { data } = (await answer.json()) as { data: { videoId: string; assets: { hls: string } }[] };
      const status = data[0] && (await server.api('GET', `/videos/${data[0].videoId}/status`));
      const { encoding } = ((await status?.json()) ?? {}) as { encoding?: Encoding };
      const { qualities = [] } = encoding ?? {};
      const isEncoded = qualities.length > 0 && qualities.every(each => each.status === 'encoded');
      return isEncoded && data[0]!.assets.hls;
    },
    { what: 'the recording', timeoutMs: encodeTimeoutMs },
  );
  const counted = await ffprobe([
    ...['-v', 'error', '-select_streams', 'v:0', '-count_frames', '-show_entries', 'stream=nb_read_frames'],
    ...['-of', 'csv=p=0', recording],
  ]);
  expect(Number.parseInt(counted, 10)).toBeGreaterThan(190);
});

const endOf = (stream: CreatedStream) =>
  waitUntil(async () => {
    const broadcast = await broadcastOf(stream);
    return broadcast?.state === 'ended' && broadcast.endReason;
  });

test('sizes that change again and again, or that are too large, end the broadcast with the reason', async () => {
  const [one, other] = await Promise.all([
    recordVp8({ size: '320x180', frames: 60, fps, gop: 1 }),
    recordVp8({ size: '160x90', frames: 60, fps, gop: 1 }),
  ]);
  const changing = await server.createStream();
  const publisher = await Vp8Publisher.start(changing);
  for (const [index, frame] of one.entries()) await publisher.send(index % 2 === 0 ? frame : other[index]!);
  expect(await endOf(changing)).toBe('limit-exceeded');
  const answer = await fetch(publisher.session, {
    method: 'PATCH',
    headers: { 'content-type': 'application/trickle-ice-sdpfrag' },
    body: '',
  });
  expect(answer.status).toBe(410);
  expect(await answer.text()).toContain('Do not change the codec, resolution or audio settings while live');

  const huge = await server.createStream();
  const sender = await Vp8Publisher.start(huge);
  const keyframe = Buffer.from(one[0]!);
  keyframe.writeUInt16LE(16_383, 6);
  keyframe.writeUInt16LE(16_383, 8);
  await sender.send(keyframe);
  expect(await endOf(huge)).toBe('picture-too-large');
});

test('frames of noise end neither their broadcast nor another one, which has renditions', async () => {
  const random = new Random(41);
  const recorded = await recordVp8({ size: '640x360', frames: 50, fps, gop: 25 });
  const noise = recorded.map(frame => Buffer.concat([frame.subarray(0, 10), random.bytes(frame.length)]));
  const [broken, good] = [await server.createStream(), await server.createStream()];
  await server.api('PATCH', `/live-streams/${good.liveStreamId}`, { qualities: 'ladder' });
  const [brokenPublisher, goodPublisher] = [await Vp8Publisher.start(broken), await Vp8Publisher.start(good)];
  const state = { isOver: false };
  const sendAll = async (publisher: Vp8Publisher, frames: readonly Buffer[]) => {
    while (!state.isOver) for (const frame of frames) await publisher.send(frame);
  };
  const sent = Promise.all([sendAll(brokenPublisher, noise), sendAll(goodPublisher, recorded)]);
  const playlistOf = ({ liveStreamId }: CreatedStream) =>
    waitUntil(async () => {
      const response = await fetch(`${server.baseUrl}/${liveStreamId}.m3u8`);
      return response.ok && (await response.text());
    });
  const playlist = await playlistOf(good);
  expect(playlist.match(/RESOLUTION=\d+x\d+/g)).toEqual(['RESOLUTION=426x240', 'RESOLUTION=640x360']);
  expect(playlist).not.toContain('vp08');
  expect(await playlistOf(broken)).toContain('avc1');
  state.isOver = true;
  await sent;
  await Promise.all([brokenPublisher.end(), goodPublisher.end()]);
  expect([await endOf(broken), await endOf(good)]).toEqual(['publisher-stopped', 'publisher-stopped']);
});
