import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import { openSlate } from '../../src/live/slate/slate-source.ts';
import { ffmpegPath, outdatedFfmpeg, publishTestPicture, runToEnd } from '../support/ffmpeg.ts';
import { makeProcessOwner } from '../support/process-limits.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

let dir: string;
let green: string;
beforeAll(async () => {
  dir = await makeTempDir();
  green = join(dir, 'green.png');
  await runToEnd(ffmpegPath, [...'-v error -f lavfi -i color=green:s=64x64 -frames:v 1'.split(' '), green]);
});
afterAll(() => removeDir(dir));

const common = {
  'live.segmentTarget': '1s',
  'live.reconnectGrace': '20s',
  'recording.enabled': 'false',
} as const;

async function isBroadcasting(server: TestServer, { liveStreamId }: CreatedStream): Promise<boolean> {
  const answer = await server.api('GET', `/live-streams/${liveStreamId}`);
  return ((await answer.json()) as { broadcasting: boolean }).broadcasting;
}

async function healthOf(server: TestServer, { liveStreamId }: CreatedStream) {
  const answer = await server.api('GET', `/live-streams/${liveStreamId}/health`);
  return (await answer.json()) as Record<string, unknown>;
}

/** Mean colour of the picture that a viewer gets now, as red, green and blue. */
async function colourNow(watch: StreamMonitor): Promise<[number, number, number]> {
  const part = [...watch.parts.values()].findLast(({ independent }) => independent)!;
  const init = await watch.inits.get(part.mapUri)!;
  const file = join(dir, `${Math.random()}.mp4`);
  await writeFile(file, Buffer.concat([init, await part.bytes]));
  const raw = `${file}.rgb`;
  await runToEnd(ffmpegPath, [
    '-v',
    'error',
    '-i',
    file,
    '-frames:v',
    '1',
    '-vf',
    'scale=1:1',
    '-pix_fmt',
    'rgb24',
    '-f',
    'rawvideo',
    raw,
  ]);
  const [red = 0, greenPart = 0, blue = 0] = await readFile(raw);
  return [red, greenPart, blue];
}

const last = (watch: StreamMonitor) => watch.latest!.segments.at(-1)!;

describe.concurrent('while a publisher is gone', () => {
  test.each([
    { what: 'its last frame', flags: { 'live.slate': 'last-frame' }, extraArgs: [] as string[] },
    {
      what: 'a picture without sound, by the outdated ffmpeg',
      flags: { 'live.slate': 'picture', 'ffmpeg.path': outdatedFfmpeg },
      extraArgs: ['-an'],
    },
  ])('$what is shown, and the playlist has no gap', async ({ flags, extraArgs }) => {
    const isPicture = flags['live.slate'] === 'picture';
    await using server = await startServer({
      ...common,
      ...flags,
      ...(isPicture ? { 'live.slatePicture': green } : {}),
    });
    const stream = await server.createStream();
    const publish = () =>
      publishTestPicture({ url: server.rtmpUrl(stream.streamKey), size: '160x90', gopSeconds: 1, extraArgs });
    await using first = publish();
    const watch = await StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
    await watch.until(({ realSegments }) => realSegments >= 2, 'two segments');
    const before = await colourNow(watch);
    await first.kill();
    const killed = watch.realSegments;
    await watch.until(({ realSegments }) => realSegments >= killed + 4, 'a slate');
    expect(await isBroadcasting(server, stream)).toBe(true);
    expect(await healthOf(server, stream)).toMatchObject({
      state: 'waiting',
      droppedConnections: 1,
      framesPerSecond: 0,
      alarms: [],
    });
    const [red, greenPart, blue] = await colourNow(watch);
    if (isPicture) expect(greenPart).toBeGreaterThan(red + blue);
    else expect(Math.abs(greenPart - before[1])).toBeLessThan(40);

    await using second = publish();
    await waitUntil(async () => (await healthOf(server, stream)).state === 'live');
    const back = watch.realSegments;
    await watch.until(({ realSegments }) => realSegments >= back + 3, 'media of the publisher');
    expect(Number((await healthOf(server, stream)).awaySeconds)).toBeGreaterThan(1);
    expect(server.app.ffmpegProcesses()).toBeLessThanOrEqual(1);
    await second.stop();
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await watch.untilEnd();
    expect(await watch.brokenRules()).toEqual([]);
    expect(watch.gapsBehindFirstBreak).toEqual([]);
    const discontinuities = new Set([...watch.segments.values()].map(one => one.discontinuityNumber));
    expect(discontinuities.size).toBe(3);
    await waitUntil(() => server.app.ffmpegProcesses() === 0, { what: 'the end of all of ffmpeg' });
  });

  test('the slate ends with the grace, and leaves nothing behind', async () => {
    await using server = await startServer({
      ...common,
      'live.slate': 'last-frame',
      'live.reconnectGrace': '3s',
    });
    const stream = await server.createStream();
    await using publisher = publishTestPicture({
      url: server.rtmpUrl(stream.streamKey),
      size: '160x90',
      gopSeconds: 1,
    });
    const watch = await StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
    await watch.until(({ realSegments }) => realSegments >= 2, 'two segments');
    await publisher.kill();
    await watch.untilEnd();
    expect(await watch.brokenRules()).toEqual([]);
    expect(last(watch).gap).toBeFalsy();
    await waitUntil(() => server.app.ffmpegProcesses() === 0);
    const { data } = (await (
      await server.api('GET', `/live-streams/${stream.liveStreamId}/broadcasts`)
    ).json()) as { data: Record<string, unknown>[] };
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({ endReason: 'publisher-gone', droppedConnections: 1, width: 160 });
    expect(data[0]!.longestKeyframeIntervalSeconds).toBeCloseTo(1, 1);
  });
});

test.each([
  ['is not there', () => join(dir, 'nothing.png'), /cannot be read/],
  ['is no image', () => join(dir, 'text.png'), /neither a JPEG nor a PNG/],
  ['is broken', () => join(dir, 'broken.png'), /cannot be shown/],
])('a server whose picture %s does not start, and says so', async (_, path, message) => {
  await writeFile(join(dir, 'text.png'), 'hello');
  await writeFile(join(dir, 'broken.png'), Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
  await expect(startServer({ 'live.slate': 'picture', 'live.slatePicture': path() })).rejects.toThrow(
    message,
  );
});

test('slates that are wanted in the same moment are made two at a time, and one shape only once', async () => {
  const owner = makeProcessOwner();
  const slate = await openSlate({
    mode: 'picture',
    imagePath: green,
    ffmpegPath,
    memoryBytes: 2 ** 30,
    owner,
  });
  let mostRunning = 0;
  let started = 0;
  const start = owner.start.bind(owner);
  owner.start = (...args) => {
    const child = start(...args);
    started += 1;
    mostRunning = Math.max(mostRunning, owner.running);
    return child;
  };
  const shape = { height: 180, framesPerSecond: 5, frames: 5, codec: undefined, audio: undefined };
  const widths = [320, 322, 320, 324, 326, 320];
  const made = await Promise.all(
    widths.map(width => slate!.make({ ...shape, width }, undefined, new AbortController().signal)),
  );
  expect(made.map(media => media.shape.width)).toEqual(widths);
  expect([mostRunning, started]).toEqual([2, 4]);
});
