import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LadderConfig } from '../../src/live/transcode/ladder-config.ts';
import { systemCodeOf } from '../../src/shared/errors.ts';
import { ffmpegBuilds, ffmpegPath, publishTestPicture, runToEnd } from '../support/ffmpeg.ts';
import { ffmpegsOf } from '../support/processes.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { isPublished, StreamMonitor } from '../support/stream-monitor.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Small ones: they are to be right, not to be seen. */
const liveSteps: LadderConfig['renditionsFor'] = ({ width, height }) =>
  [100, 120, 180].map(lines => ({
    name: `${lines}p`,
    width: 2 * Math.round((width * lines) / height / 2),
    height: lines,
    bitsPerSecond: lines * 2000,
  }));
const seconds = 8;
const picture = { size: '320x180', fps: 15, gopSeconds: 1 };
const rungs = ['100p', '120p', 'source'];
/** Three frames stand before the first segment, and the length of a frame is rounded to a millisecond. */
const maxLeadInOffMs = 3;

interface MadeLadder {
  readonly server: TestServer;
  readonly watches: ReadonlyMap<string, StreamMonitor>;
}

/** Publishes a short stream and follows it in all renditions to its end. */
async function makeLadder(path: string): Promise<MadeLadder> {
  const server = await startServer({ 'ffmpeg.path': path, 'live.qualities': 'ladder' }, { liveSteps });
  const stream = await server.createStream();
  await using publisher = publishTestPicture({
    url: server.rtmpUrl(stream.streamKey),
    ...picture,
    seconds,
    // Frames out of order, and sound that begins late.
    extraArgs: ['-tune', 'film', '-bf', '2', '-af', 'asetpts=PTS+0.4/TB'],
  });
  const watches = await StreamMonitor.beginAll(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
  expect(await publisher.exited, publisher.stderr).toMatchObject({ code: 0 });
  await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
  await Promise.all([...watches.values()].map(watch => watch.untilEnd()));
  return { server, watches };
}

/** Ladders made concurrently: they mostly wait for the time to pass. */
let made: readonly MadeLadder[] = [];
beforeAll(async () => {
  made = await Promise.all(ffmpegBuilds.map(({ path }) => makeLadder(path)));
});
afterAll(() => Promise.all(made.map(({ server }) => server.stop())));

describe.each(ffmpegBuilds.map(({ name }, index) => ({ name, index })))(
  'a ladder, made with the $name ffmpeg',
  ({ index }) => {
    let watches: MadeLadder['watches'];
    beforeAll(() => {
      watches = made[index]!.watches;
    });

    test('has every rung below the source, the source, and the sound once, and all keep the rules', async () => {
      expect([...watches.keys()]).toEqual([...rungs, 'audio']);
      for (const [name, watch] of watches) expect(await watch.brokenRules(), name).toEqual([]);
      const sizes = rungs.map(name => watches.get(name)!.variant).map(({ width, height }) => [width, height]);
      expect(sizes).toEqual([
        [178, 100],
        [214, 120],
        [320, 180],
      ]);
    });

    test('has the same segments in all of them: numbers, dates, breaks, and instants to a millisecond', () => {
      const source = watches.get('source')!;
      for (const name of rungs) {
        const { segments } = watches.get(name)!;
        for (const [msn, segment] of source.segments) {
          const same = segments.get(msn);
          expect(same?.gap, `${name} ${msn}`).toBe(segment.gap);
          const dateOffMs = Math.abs(same!.programDateTimeMs! - segment.programDateTimeMs!);
          expect(dateOffMs, `${name} ${msn}`).toBeLessThanOrEqual(isPublished(segment) ? 0 : maxLeadInOffMs);
          expect(same?.discontinuityNumber, `${name} ${msn}`).toBe(segment.discontinuityNumber);
          expect(Math.abs(same!.durationSeconds - segment.durationSeconds), `${name} ${msn}`).toBeLessThan(
            0.003,
          );
        }
      }
      const sound = watches.get('audio')!.segments;
      // The last may end with what sound there was.
      const published = [...source.segments].filter(([, segment]) => isPublished(segment));
      for (const [msn, segment] of published.slice(0, -1)) {
        // A frame of sound lasts 21 ms.
        const off = Math.abs(sound.get(msn)!.programDateTimeMs! - segment.programDateTimeMs!);
        expect(off, `sound of ${msn}`).toBeLessThan(22);
      }
    });

    test('has keyframes in the rungs where the source has them and nowhere else, and all frames', async () => {
      const shown = async (name: string) => {
        const watch = watches.get(name)!;
        const timescale = (await watch.tracks())[0]!.timescale;
        const samples = await watch.samples('video');
        const at = (ticks: number) => Math.round((ticks * 1000) / timescale);
        return {
          keys: samples
            .filter(({ isSync }) => isSync)
            .map(sample => at(sample.dtsTicks + sample.compositionOffsetTicks)),
          count: samples.length,
        };
      };
      const source = await shown('source');
      expect(source.keys.length).toBeGreaterThanOrEqual(seconds - 1);
      for (const name of ['100p', '120p']) {
        const rung = await shown(name);
        expect(rung.keys.map((at, index) => Math.abs(at - (source.keys[index] ?? Number.NaN)) <= 1)).toEqual(
          source.keys.map(() => true),
        );
        expect(rung.count).toBe(source.count);
      }
    });

    test('has reports of all other renditions in each list', () => {
      for (const [name, watch] of watches) {
        const list = watch.playlists.find(({ renditionReports }) => renditionReports.length > 0)!;
        const others = [...watches.keys()]
          .filter(other => other !== name)
          .map(other => `../${other}/index.m3u8`);
        expect(list.renditionReports.map(({ uri }) => uri).toSorted()).toEqual(others.toSorted());
      }
    });
  },
);

// Runs concurrently: they mostly wait, too. Each has its own width, by which its encoder is known.
describe.concurrent('an encoder', () => {
  let server: TestServer;
  let folder: string;
  beforeAll(async () => {
    folder = await makeTempDir();
    server = await startServer({ 'live.qualities': 'ladder', 'live.stopGrace': '60s' }, { liveSteps });
  });
  afterAll(async () => {
    await server?.stop();
    await removeDir(folder);
  });

  test('that is killed leaves no hole: its rungs go on with the next frame, and the source does not notice', async () => {
    const stream = await server.createStream();
    await using publisher = publishTestPicture({
      url: server.rtmpUrl(stream.streamKey),
      ...picture,
      size: '324x180',
    });
    const watches = await StreamMonitor.beginAll(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
    const rung = watches.get('120p')!;
    await rung.until(watch => watch.realSegments >= 2, 'two segments of the encoder');
    process.kill(encoderPid('324:180'), 'SIGKILL');
    const { realSegments } = rung;
    await rung.until(watch => watch.realSegments >= realSegments + 4, 'segments of the next encoder');
    await publisher.stop();
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await Promise.all([...watches.values()].map(watch => watch.untilEnd()));
    for (const [name, watch] of watches) expect(await watch.brokenRules(), name).toEqual([]);
    const counts = await Promise.all(
      rungs.map(async name => (await watches.get(name)!.samples('video')).length),
    );
    expect(counts).toEqual([counts[2], counts[2], counts[2]]);
    for (const name of ['100p', '120p']) {
      const [file, ...others] = await watches.get(name)!.joined();
      expect(others).toEqual([]);
      await writeFile(join(folder, 'joined.mp4'), file!);
      // Whatever the decoder complains of would be printed.
      await runToEnd(ffmpegPath, [
        '-v',
        'error',
        '-xerror',
        '-i',
        join(folder, 'joined.mp4'),
        '-f',
        'null',
        '-',
      ]);
    }
  });

  test('that is too slow gives its top rung up; viewers of that go on with the one below', async () => {
    await using server = await startServer(
      { 'live.qualities': 'ladder' },
      { liveSteps, canDropQualities: true },
    );
    const stream = await server.createStream();
    const master = `${server.baseUrl}/${stream.liveStreamId}.m3u8`;
    await using publisher = publishTestPicture({
      url: server.rtmpUrl(stream.streamKey),
      ...picture,
      size: '322x180',
    });
    const watches = await StreamMonitor.beginAll(master);
    const top = watches.get('120p')!;
    await top.until(watch => watch.realSegments >= 2, 'two segments');
    const source = watches.get('source')!;
    const names = async () =>
      [...(await (await fetch(master)).text()).matchAll(/\/(\w+)\/index/g)].map(match => match[1]);
    const stopped = new Set<number>();
    await waitUntil(
      async () => {
        // The server replaces one that returns nothing for long.
        for (const pid of encoderPids('322:180')) {
          if (!stopped.has(pid)) process.kill(pid, 'SIGSTOP');
          stopped.add(pid);
        }
        return !(await names()).includes('120p');
      },
      { what: 'the list without it' },
    );
    for (const pid of stopped) continueProcess(pid);
    expect(await names()).toEqual(['audio', '100p', 'source']);
    await top.until(
      watch => watch.inits.size === 2 && watch.newestMsn >= source.newestMsn - 1,
      'it to go on',
    );
    await publisher.stop();
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await Promise.all([...watches.values()].map(watch => watch.untilEnd()));
    for (const [name, watch] of watches) expect(await watch.brokenRules(), name).toEqual([]);
    expect((await top.tracks())[0]).toMatchObject({ width: 178, height: 100 });
    const sourceFrames = (await source.samples('video')).length;
    expect((await top.samples('video')).length).toBe(sourceFrames);
    const events = await (await server.api('GET', '/metrics')).text();
    expect(events).toContain('live_qualities_dropped_total{quality="120p",reason="too-slow"} 1');
  });

  test('goes on after the publisher came back, smaller: one list, and no rung that is larger than it', async () => {
    const stream = await server.createStream();
    const master = `${server.baseUrl}/${stream.liveStreamId}.m3u8`;
    const url = server.rtmpUrl(stream.streamKey);
    await using first = publishTestPicture({ url, ...picture, seconds: 3 });
    const watches = await StreamMonitor.beginAll(master);
    await first.exited;
    await using second = publishTestPicture({ url, ...picture, size: '214x120', seconds: 4 });
    await second.exited;
    const text = await (await fetch(master)).text();
    expect([...text.matchAll(/\/(\w+)\/index/g)].map(match => match[1])).toEqual(['audio', '100p', 'source']);
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await Promise.all([...watches.values()].map(watch => watch.untilEnd()));
    for (const [name, watch] of watches) expect(await watch.brokenRules(), name).toEqual([]);
    const numbers = [...watches.values()].map(({ segments }) =>
      [...segments.values()].map(s => s.discontinuityNumber),
    );
    for (const list of numbers) expect(list).toEqual(numbers[0]);
  });
});

describe.concurrent('the sandbox', () => {
  test('marks every rendition, and says nothing else', async () => {
    await using server = await startServer({ 'live.qualities': 'ladder' }, { liveSteps });
    const answer = await fetch(`${server.baseUrl}/live-streams`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${server.sandboxKey}:`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name: 'marked' }),
    });
    const stream = (await answer.json()) as { liveStreamId: string; streamKey: string };
    await using publisher = publishTestPicture({
      url: server.rtmpUrl(stream.streamKey),
      ...picture,
      seconds: 4,
      extraArgs: ['-vf', 'drawbox=color=white:t=fill'],
    });
    const watches = await StreamMonitor.beginAll(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
    await publisher.exited;
    await fetch(`${server.baseUrl}/live-streams/${stream.liveStreamId}/complete`, {
      method: 'PUT',
      headers: { authorization: `Basic ${Buffer.from(`${server.sandboxKey}:`).toString('base64')}` },
    });
    await Promise.all([...watches.values()].map(watch => watch.untilEnd()));
    const folder = await makeTempDir();
    for (const [name, watch] of watches) {
      expect(await watch.brokenRules(), name).toEqual([]);
      if (name === 'audio') continue;
      const path = join(folder, `${name}.mp4`);
      await writeFile(path, (await watch.joined())[0]!);
      // Measures every frame: the corner of the mark, and its mirror image, which has none.
      const [marked, plain] = ['iw*0.6:ih*0.8', '0:ih*0.8'].map(at =>
        darkestLuma(path, `crop=iw*0.36:ih*0.15:${at}`),
      );
      expect(Math.max(...marked!), name).toBeLessThan(120);
      expect(Math.min(...plain!), name).toBeGreaterThan(200);
      // A busy machine encodes fewer frames.
      expect(marked!.length).toBeGreaterThan(5);
    }
    await removeDir(folder);
  });
});

/** The darkest luma of a part of each frame. */
function darkestLuma(path: string, crop: string): number[] {
  const filters = `${crop},signalstats,metadata=print:key=lavfi.signalstats.YMIN:file=-`;
  const printed = execFileSync(ffmpegPath, [
    '-v',
    'error',
    '-i',
    path,
    '-vf',
    filters,
    '-f',
    'null',
    '-',
  ]).toString();
  return [...printed.matchAll(/YMIN=(\d+)/g)].map(match => Number(match[1]));
}

/** The ffmpeg of this process that encodes from such a size; there must be one. */
function encoderPid(size: string): number {
  const found = encoderPids(size);
  expect(found).toHaveLength(1);
  return found[0]!;
}

function encoderPids(size: string): number[] {
  return ffmpegsOf(process.pid)
    .filter(({ args }) => args.includes('zerolatency') && args.some(word => word.includes(`scale=${size}:`)))
    .map(({ pid }) => pid);
}

/** The server may have ended it already. */
function continueProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch (error) {
    if (systemCodeOf(error) !== 'ESRCH') throw error;
  }
}
