import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CreatedStream, createLiveStream } from '../../scripts/server-process.ts';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { ffprobe, type Publisher, publishTestPicture } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { decodeVideo } from './decoded.ts';

const framesPerSecond = 25;
const gopSeconds = 2;
/** Frames that are decoded before the last one may be shown after it. */
const maxLateFrames = 4;
/** AAC frames last 23 ms. */
const audioToleranceSeconds = 0.05;

interface Answer {
  readonly videoId: string;
  readonly name: string;
  readonly type: string;
  readonly detail: string;
  readonly source: Record<string, unknown>;
  readonly assets: { readonly hls: string; readonly mp4: string };
}

let server: TestServer;
let stream: CreatedStream;
let publisher: Publisher;

beforeAll(async () => {
  server = await startServer(
    { 'live.segmentTarget': '2s', 'encode.preset': 'ultrafast' },
    { hasImages: false },
  );
  stream = await createLiveStream(server.baseUrl, server.productionKey, 'Match');
  const url = server.rtmpUrl(stream.streamKey);
  publisher = publishTestPicture({ url, gopSeconds, fps: framesPerSecond, size: '320x180', seconds: 120 });
  // Later clips would end with the newest media.
  await clipWhen({ startTimecode: '9', endTimecode: '11' });
});
afterAll(async () => {
  await publisher.stop();
  await server.stop();
});

async function call(
  method: string,
  path: string,
  body?: unknown,
  key = server.productionKey,
): Promise<{ status: number; json: Answer }> {
  const answer = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as Answer };
}

const clip = (values: Record<string, unknown> | undefined, source = stream.liveStreamId) =>
  call('POST', '/videos', { title: 'A goal', source, clip: values });

/** Waits until the broadcast can be clipped up to a time. */
function clipWhen(values: Record<string, unknown>): Promise<Answer> {
  return waitUntil(
    async () => {
      const { status, json } = await clip(values);
      return status === 202 ? json : undefined;
    },
    { what: `a clip ${JSON.stringify(values)}`, timeoutMs: encodeTimeoutMs },
  );
}

async function mp4When({ videoId, assets }: Answer): Promise<string> {
  await waitUntil(
    async () => {
      const { json } = await call('GET', `/videos/${videoId}/status`);
      const { qualities } = (json as unknown as { encoding: { qualities: { status: string }[] } }).encoding;
      return qualities.length > 0 && qualities.every(({ status }) => status === 'encoded');
    },
    { what: 'the qualities of the clip', timeoutMs: encodeTimeoutMs },
  );
  return assets.mp4;
}

async function startsOf(url: string): Promise<Record<string, number>> {
  const text = await ffprobe([
    ...['-v', 'error', '-show_entries', 'stream=codec_type,start_time', '-of', 'json', url],
  ]);
  const { streams } = JSON.parse(text) as { streams: { codec_type: string; start_time: string }[] };
  return Object.fromEntries(streams.map(({ codec_type, start_time }) => [codec_type, Number(start_time)]));
}

test('the last seconds of a running broadcast become a video that refers to the live stream', async () => {
  const { status, json } = await clip({ lastSeconds: 4 });
  expect(status).toBe(202);
  const { liveStreamId } = stream;
  const links = [{ rel: 'self', uri: `/live-streams/${liveStreamId}` }];
  expect(json.source).toEqual({
    type: 'liveStream',
    uri: `/videos/${json.videoId}/source`,
    liveStream: { liveStreamId, links },
    clippedFrom: { liveStreamId, links },
  });
  const mp4 = await mp4When(json);
  const frames = await decodeVideo(mp4);
  expect(frames.length).toBeGreaterThanOrEqual(4 * framesPerSecond - 1);
  expect(frames.length).toBeLessThanOrEqual((4 + gopSeconds) * framesPerSecond + maxLateFrames);
  const { video = Number.NaN, audio = Number.NaN } = await startsOf(mp4);
  expect(Math.abs(video - audio)).toBeLessThan(audioToleranceSeconds);
});

test('two clips of a broadcast have the same frames where they overlap', async () => {
  const clipFrom = async (startTimecode: string) => {
    const values = { startTimecode, endTimecode: '8', precision: 'keyframe' };
    return decodeVideo(await mp4When(await clipWhen(values)));
  };
  const early = await clipFrom('2');
  const late = await clipFrom('5');
  const hashes = early.map(({ hash }) => hash);
  const first = hashes.indexOf(late[0]!.hash);
  expect(first).toBeGreaterThan(0);
  const shared = Math.min(hashes.length - first, late.length) - maxLateFrames;
  expect(late.slice(0, shared).map(({ hash }) => hash)).toEqual(hashes.slice(first, first + shared));
});

test('a frame-exact clip of a broadcast has the wanted length', async () => {
  const made = await clipWhen({ startTimecode: '00:00:03.200', endTimecode: '00:00:07.480' });
  const frames = await decodeVideo(await mp4When(made));
  expect(Math.abs(frames.length - 107)).toBeLessThanOrEqual(1);
});

test('a clip of a broadcast is refused when it is too short, outside of the window or not of the project', async () => {
  const refused = async (values: Record<string, unknown> | undefined, key?: string) => {
    const body = { title: 'A goal', source: stream.liveStreamId, ...(values && { clip: values }) };
    const { status, json } = await call('POST', '/videos', body, key);
    return [status, json.name];
  };
  expect(await refused(undefined)).toEqual([400, 'clip']);
  expect(await refused({ startTimecode: '3', endTimecode: '00:00:03.500' })).toEqual([
    400,
    'clip[endTimecode]',
  ]);
  expect(await refused({ startTimecode: '01:00:00' })).toEqual([400, 'clip[startTimecode]']);
  expect(await refused({ lastSeconds: 4 }, server.sandboxKey)).toEqual([400, 'source']);
});

test('a live stream that is not broadcasting cannot be clipped, and says what can', async () => {
  const idle = await createLiveStream(server.baseUrl, server.productionKey, 'Match');
  const { status, json } = await clip({ lastSeconds: 4 }, idle.liveStreamId);
  expect([status, json.name]).toEqual([409, 'source']);
  expect(json.detail).toContain('Clip its recording');
});
