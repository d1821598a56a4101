import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CreatedStream, createLiveStream } from '../../scripts/server-process.ts';
import { encodeTimeoutMs, waitTimeoutMs } from '../support/deadlines.ts';
import { ffprobePath, outdatedFfmpeg, type Publisher, publishTestPicture } from '../support/ffmpeg.ts';
import { ffmpegsOf } from '../support/processes.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readRows } from './vod-server-fixture.ts';

/** Title of a recording of a live stream with this name. */
const titleOf = (name: string): unknown =>
  expect.stringMatching(new RegExp(`^${name}, \\d{1,2} [A-Z][a-z]+ 20\\d\\d, \\d\\d:\\d\\d UTC$`));

const gib = 1024 ** 3;
const fps = 30;
const flags = {
  'recording.enabled': 'true',
  'recording.minFree': '2GiB',
  'uploads.minFree': '2049MiB',
  'live.segmentTarget': '1s',
  // A busy machine starts the next publisher late.
  'live.stopGrace': '60s',
  'encode.preset': 'ultrafast',
} as const;
const sandboxRecordingMs = 3_000;
/** Parts are about 200 ms; what a packager has not given when it is killed is some more of them, up to the next keyframe. */
const partSeconds = 0.25;
const gopSeconds = 1;

interface Video {
  readonly videoId: string;
  readonly title: string;
  readonly source: { readonly type: string; readonly liveStream?: { readonly liveStreamId: string } };
  readonly assets: { readonly hls: string; readonly mp4?: string };
}

interface Status {
  readonly ingest: { readonly status: string; readonly filesize: number | null };
  readonly encoding: {
    readonly playable: boolean;
    readonly failure?: string;
    readonly qualities: readonly {
      readonly type: string;
      readonly quality: string;
      readonly status: string;
    }[];
    readonly metadata: { readonly duration: number | null; readonly width: number | null };
  };
}

let server: TestServer;
let freeBytes = 100 * gib;

beforeAll(async () => {
  server = await startServer(
    { ...flags, 'recording.longest': '10s' },
    {
      hasImages: false,
      sandboxRules: { maxRecordingMs: sandboxRecordingMs },
      freeBytes: async () => freeBytes,
    },
  );
});

afterAll(() => server.stop());

function publish(
  stream: CreatedStream,
  options: { seconds?: number; size?: string; extraArgs?: readonly string[] } = {},
): Publisher {
  return publishTestPicture({
    url: server.rtmpUrl(stream.streamKey),
    gopSeconds,
    fps,
    size: '320x180',
    ...options,
  });
}

async function get<Answer>(path: string, key = server.productionKey): Promise<Answer> {
  const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
  const answer = await fetch(`${server.baseUrl}${path}`, { headers: { authorization } });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return (await answer.json()) as Answer;
}

/** The recordings of a stream, oldest first. */
async function videosOf(stream: CreatedStream, key?: string): Promise<Video[]> {
  const query = `liveStreamId=${stream.liveStreamId}&sortBy=createdAt&sortOrder=asc`;
  return (await get<{ data: Video[] }>(`/videos?${query}`, key)).data;
}

function videosWhen(stream: CreatedStream, count: number, key?: string): Promise<Video[]> {
  return waitUntil(
    async () => {
      const videos = await videosOf(stream, key);
      return videos.length >= count ? videos : undefined;
    },
    { what: `${count} videos` },
  );
}

function statusWhen(videoId: string, isWanted: (status: Status) => boolean, key?: string): Promise<Status> {
  let last: Status | undefined;
  return waitUntil(
    async () => {
      last = await get<Status>(`/videos/${videoId}/status`, key);
      return isWanted(last) ? last : undefined;
    },
    { timeoutMs: encodeTimeoutMs, what: () => `the status: ${JSON.stringify(last)}` },
  );
}

const isDone = ({ encoding: { qualities } }: Status) =>
  qualities.length > 0 && qualities.every(({ status }) => status === 'encoded');

/** Durations that ffprobe reports: of the video, counted by its frames, and of the whole. */
async function lengthsOf(input: string): Promise<{ frames: number; seconds: number }> {
  const { stdout } = await promisify(execFile)(
    ffprobePath,
    [
      ...['-v', 'error', '-count_packets', '-select_streams', 'v:0', '-of', 'json'],
      ...['-show_entries', 'stream=nb_read_packets:format=duration', input],
    ],
    { timeout: waitTimeoutMs },
  );
  const { streams, format } = JSON.parse(stdout) as {
    streams: { nb_read_packets: string }[];
    format: { duration: string };
  };
  return { frames: Number(streams[0]?.nb_read_packets), seconds: Number(format.duration) };
}

/** Numbers that the publisher's test picture counts are not read; frames are, and their times must go on evenly. */
async function longestFrameSeconds(hls: string): Promise<number> {
  const { stdout } = await promisify(execFile)(
    ffprobePath,
    ['-v', 'error', '-select_streams', 'v:0', '-show_entries', 'packet=pts_time', '-of', 'csv=p=0', hls],
    { timeout: waitTimeoutMs },
  );
  const times = stdout
    .split('\n')
    .map(line => Number.parseFloat(line))
    .filter(time => !Number.isNaN(time))
    .toSorted((a, b) => a - b);
  return Math.max(...times.slice(1).map((time, at) => time - times[at]!));
}

/** Lists folders of videos; none before the first recording. */
function videoFolders(): string[] {
  const folder = join(server.dataDir, 'vod');
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** The ffmpeg that converts audio: a child of this process with the pipes of one. */
function audioEncoder(): number | undefined {
  return ffmpegsOf(process.pid).find(({ args }) => args.includes('pipe:0') && args.includes('pipe:3'))?.pid;
}

describe('a broadcast', { concurrent: true }, () => {
  test('can be played as a video once it has ended, and has its qualities and its mp4 later', async () => {
    const stream = await server.createStream('Harbour');
    await using publisher = publish(stream, { seconds: 5, size: '640x360' });
    await publisher.exited;
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    const [video] = await videosWhen(stream, 1);
    const first = await statusWhen(video!.videoId, ({ encoding }) => encoding.playable);
    expect(video).toMatchObject({
      title: titleOf('Harbour'),
      source: { type: 'liveStream', liveStream: { liveStreamId: stream.liveStreamId } },
    });
    expect(first.ingest.status).toBe('ingested');
    expect(first.encoding.metadata).toMatchObject({ width: 640, duration: 5 });
    const top = first.encoding.qualities.find(({ type, quality }) => type === 'hls' && quality === '360p');
    expect(top?.status).toBe('encoded');

    await statusWhen(video!.videoId, isDone);
    const mp4 = await lengthsOf(video!.assets.mp4!);
    expect(mp4.frames).toBe(5 * fps);
    for (const rung of ['240p', '360p']) {
      const hls = await lengthsOf(video!.assets.hls.replace('manifest.m3u8', `${rung}/manifest.m3u8`));
      expect(hls.frames).toBe(5 * fps);
      expect(Math.abs(hls.seconds - 5)).toBeLessThan(0.1);
    }
    expect(Math.abs(mp4.seconds - 5)).toBeLessThan(0.1);
    const source = await lengthsOf(join(server.dataDir, 'vod', video!.videoId, 'source'));
    // ffprobe counts from decode time 0, before the edit list begins.
    expect(Math.abs(source.seconds - 5.5)).toBeLessThan(0.1);
  });

  test('whose publisher comes back as it was is one video without a hole', async () => {
    const stream = await server.createStream();
    await using first = publish(stream, { seconds: 3 });
    await first.exited;
    await using second = publish(stream, { seconds: 3 });
    await second.exited;
    await server.api('DELETE', `/live-streams/${stream.liveStreamId}`);
    const [video] = await videosWhen(stream, 1);
    await statusWhen(video!.videoId, ({ encoding }) => encoding.playable);
    const { frames, seconds } = await lengthsOf(video!.assets.hls);
    expect(frames).toBe(6 * fps);
    expect(Math.abs(seconds - 6)).toBeLessThan(0.3);
    expect(await longestFrameSeconds(video!.assets.hls)).toBeLessThan(0.2);
    expect(await videosOf(stream)).toHaveLength(1);
  });

  test('whose publisher comes back with another size is one video, encoded', async () => {
    const stream = await server.createStream();
    await using first = publish(stream, { seconds: 3 });
    await first.exited;
    await using second = publish(stream, { seconds: 3, size: '640x360' });
    await second.exited;
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    const [video] = await videosWhen(stream, 1);
    const status = await statusWhen(video!.videoId, isDone);
    expect(status.ingest.filesize).toBeGreaterThan(1000);
    const { frames, seconds } = await lengthsOf(video!.assets.mp4!);
    expect(Math.abs(frames - 6 * fps)).toBeLessThan(4);
    expect(Math.abs(seconds - 6)).toBeLessThan(0.3);
    expect(
      readdirSync(join(server.dataDir, 'vod', video!.videoId)).filter(name => name.startsWith('rec')),
    ).toEqual([]);
  });

  test('that is longer than a recording may be is two videos, and no frame is lost between them', async () => {
    const stream = await server.createStream();
    await using publisher = publish(stream, { seconds: 12 });
    await publisher.exited;
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    const videos = await videosWhen(stream, 2);
    const frames: number[] = [];
    for (const { videoId, assets } of videos) {
      await statusWhen(videoId, ({ encoding }) => encoding.playable);
      frames.push((await lengthsOf(assets.hls)).frames);
    }
    expect(frames.toSorted((a, b) => b - a)).toEqual([10 * fps, 2 * fps]);
  });

  test('with a ladder is one video with picture and sound, though its publisher comes back', async () => {
    await using own = await startServer({ ...flags, 'live.qualities': 'ladder' }, { hasImages: false });
    const stream = await own.createStream();
    for (const seconds of [3, 2]) {
      await using publisher = publishTestPicture({
        url: own.rtmpUrl(stream.streamKey),
        gopSeconds,
        fps,
        size: '320x180',
        seconds,
      });
      await publisher.exited;
    }
    await own.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    const [video] = await waitUntil(async () => {
      const answer = await own.api('GET', `/videos?liveStreamId=${stream.liveStreamId}`);
      const { data } = (await answer.json()) as { data: Video[] };
      return data.length > 0 && (await fetch(data[0]!.assets.hls)).status === 200 && data;
    });
    expect((await lengthsOf(video!.assets.hls)).frames).toBe(5 * fps);
    const sound = await lengthsOf(video!.assets.hls.replace('manifest.m3u8', 'audio/manifest.m3u8'));
    expect(Math.abs(sound.seconds - 5)).toBeLessThan(0.3);
  });

  test('is put together and encoded by the outdated ffmpeg too', async () => {
    await using own = await startServer({ ...flags, 'ffmpeg.path': outdatedFfmpeg }, { hasImages: false });
    const stream = await own.createStream();
    for (const size of ['320x180', '320x240']) {
      await using publisher = publishTestPicture({
        url: own.rtmpUrl(stream.streamKey),
        gopSeconds,
        fps,
        size,
        seconds: 2,
      });
      await publisher.exited;
    }
    await own.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    const [video] = await waitUntil(
      async () => {
        const answer = await own.api('GET', `/videos?liveStreamId=${stream.liveStreamId}`);
        const { data } = (await answer.json()) as { data: Video[] };
        return data.length > 0 && (await fetch(data[0]!.assets.mp4!)).status === 200 && data;
      },
      { timeoutMs: encodeTimeoutMs, what: 'the mp4' },
    );
    const { frames } = await lengthsOf(video!.assets.mp4!);
    expect(Math.abs(frames - 4 * fps)).toBeLessThan(4);
  });

  test('of a live stream that is never recorded can be rewound, and leaves nothing on the disk', async ({
    onTestFinished,
  }) => {
    const dataDir = await makeTempDir();
    onTestFinished(() => removeDir(dataDir));
    await using own = await startServer(flags, { dataDir });
    const files = () =>
      readdirSync(own.dataDir, { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile() && !entry.name.startsWith('millrace.'))
        .map(entry => join(entry.parentPath, entry.name));
    const before = files();
    const stream = await createLiveStream(own.baseUrl, own.productionKey, 'Never', { record: false });
    await using publisher = publishTestPicture({
      url: own.rtmpUrl(stream.streamKey),
      gopSeconds,
      fps,
      size: '160x120',
    });
    await waitUntil(() => files().some(path => path.includes(stream.liveStreamId)), { what: 'the rewind' });
    const thumbnail = await fetch(`${own.baseUrl}/${stream.liveStreamId}/thumbnail.jpg`);
    expect(thumbnail.headers.get('content-type')).toBe('image/jpeg');
    await publisher.stop();
    await own.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    expect((await fetch(stream.assets.hls)).status).toBe(200);
    expect(await (await own.api('GET', '/videos')).json()).toMatchObject({ data: [] });
    await own.stop();
    expect(files()).toEqual(before);
  });

  test('of a live stream that is to be recorded becomes a video though the server records nothing', async () => {
    await using own = await startServer({ 'live.segmentTarget': '1s', 'encode.preset': 'ultrafast' });
    const stream = await createLiveStream(own.baseUrl, own.productionKey, 'On the record', { record: true });
    const url = own.rtmpUrl(stream.streamKey);
    await using publisher = publishTestPicture({ url, gopSeconds, fps, size: '160x120', seconds: 2 });
    await publisher.exited;
    await own.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await waitUntil(async () => {
      const answer = await own.api('GET', `/videos?liveStreamId=${stream.liveStreamId}`);
      return ((await answer.json()) as { data: Video[] }).data.length === 1;
    });
  });

  test('of the sandbox is recorded as long as the sandbox allows', async () => {
    const stream = await createLiveStream(server.baseUrl, server.sandboxKey, 'Trial');
    await using publisher = publish(stream, { seconds: 5 });
    const [video] = await videosWhen(stream, 1, server.sandboxKey);
    expect((await publisher.exited).code).toBe(0);
    const status = await statusWhen(video!.videoId, ({ encoding }) => encoding.playable, server.sandboxKey);
    expect(status.encoding.metadata.duration).toBe(3);
    expect(await videosOf(stream, server.sandboxKey)).toHaveLength(1);
  });
});

test('a broadcast is not recorded while the disk is nearly full, and tells of it', async () => {
  const stream = await server.createStream();
  await using publisher = publish(stream);
  const recorded = () => videoFolders().length;
  const before = recorded();
  await waitUntil(() => recorded() > before, { what: 'the recording' });
  freeBytes = gib;
  const [video] = await videosWhen(stream, 1);
  await statusWhen(video!.videoId, ({ encoding }) => encoding.playable);
  expect((await get<{ broadcasting: boolean }>(`/live-streams/${stream.liveStreamId}`)).broadcasting).toBe(
    true,
  );
  const events = readRows<{ payload: string }>(
    server.dataDir,
    "SELECT payload FROM events WHERE type = 'live-stream.recording.stopped'",
  );
  expect(events.map(({ payload }) => JSON.parse(payload))).toEqual([
    { liveStreamId: stream.liveStreamId, videoId: video!.videoId, reason: 'disk-low' },
  ]);
  freeBytes = 100 * gib;
  await waitUntil(() => recorded() > before + 1, { what: 'the next recording' });
  await publisher.stop();
  await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
  expect(await videosWhen(stream, 2)).toHaveLength(2);
});

test.skipIf(process.platform !== 'linux')(
  'an audio encoder that is killed leaves one recording, without a hole',
  async () => {
    const stream = await server.createStream();
    const before = new Set(videoFolders());
    // Audio of this format is converted.
    const extraArgs = ['-c:a', 'pcm_s16le', '-ar', '44100', '-ac', '2'];
    await using publisher = publish(stream, { seconds: 5, extraArgs });
    const encoder = await waitUntil(() => audioEncoder(), { what: 'the audio encoder' });
    const own = await waitUntil(() => videoFolders().find(name => !before.has(name)), {
      what: 'the recording',
    });
    await waitUntil(
      async () => (await stat(join(server.dataDir, 'vod', own, 'recording-1.mp4'))).size > 100_000,
    );
    process.kill(encoder, 'SIGKILL');
    await publisher.exited;
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    const [video] = await videosWhen(stream, 1);
    await statusWhen(video!.videoId, ({ encoding }) => encoding.playable);
    const { seconds } = await lengthsOf(video!.assets.hls);
    expect(seconds).toBeGreaterThan(5 - gopSeconds - 2 * partSeconds - 1);
    expect(await longestFrameSeconds(video!.assets.hls)).toBeLessThan(0.2);
    expect(await videosOf(stream)).toHaveLength(1);
  },
);
