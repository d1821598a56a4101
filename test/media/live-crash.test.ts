import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, describe, expect, test } from 'vitest';
import { callApi } from '../../scripts/api-call.ts';
import { createLiveStream, type ServerProcess, startServerProcess } from '../../scripts/server-process.ts';
import { type Publisher, publishTestPicture } from '../support/ffmpeg.ts';
import { ffmpegsOf, hasProc, isAlive } from '../support/processes.ts';
import { isToldOfTheEnd, StreamMonitor } from '../support/stream-monitor.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { startTsSource } from '../support/ts-source.ts';
import { waitUntil } from '../support/wait-until.ts';

// Hooks of a test's own cannot be told apart while several tests run at once.
const folders: string[] = [];
const servers: ServerProcess[] = [];

afterAll(async () => {
  await Promise.all(servers.map(server => server.stop()));
  await Promise.all(folders.map(removeDir));
});

async function newFolder(): Promise<string> {
  const folder = await makeTempDir();
  folders.push(folder);
  return folder;
}

const env = { MILLRACE_LIVE_SEGMENT_TARGET: '1s', MILLRACE_LIVE_PACKAGER: 'ffmpeg' };
const sizeAndGop = { size: '160x90', gopSeconds: 1 } as const;

async function start(dataDir: string, more: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await startServerProcess({ dataDir, env: { ...env, ...more } });
  servers.push(server);
  return server;
}

function publishTo(server: ServerProcess, streamKey: string): Publisher {
  return publishTestPicture({ url: `rtmp://127.0.0.1:${server.rtmpPort}/s/${streamKey}`, ...sizeAndGop });
}

/** Returns the ffmpeg of a server's only broadcast, and not a process that bundles the pages. */
function packagerOf(server: ServerProcess): Promise<number> {
  return waitUntil(() => ffmpegsOf(server.child.pid!)[0]?.pid, { what: 'the packager' });
}

if (!hasProc) console.log('skipped: processes are looked up in /proc, which only Linux has');

describe.skipIf(!hasProc)('ffmpeg in a broadcast', { concurrent: true }, () => {
  test('is killed is replaced within three seconds, and the playlist continues', async () => {
    const server = await start(await newFolder());
    const stream = await createLiveStream(server.baseUrl, server.productionKey, 'a stream');
    await using publisher = publishTo(server, stream.streamKey);
    const watch = await StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
    await watch.until(({ realSegments }) => realSegments >= 2, 'two segments');
    const packager = await packagerOf(server);
    const partsBefore = watch.parts.size;
    process.kill(packager, 'SIGKILL');
    await watch.until(
      ({ latest }) =>
        latest!.segments.some(({ discontinuity }) => discontinuity) ||
        latest!.openParts?.discontinuity === true,
      'a new part after a break',
    );
    expect(await packagerOf(server)).not.toBe(packager);
    const before = watch.realSegments;
    await watch.until(({ realSegments }) => realSegments >= before + 2, 'more segments');
    expect(watch.parts.size).toBeGreaterThan(partsBefore + 8);
    const last = [...watch.segments.values()].findLast(
      ({ discontinuityNumber }) => discontinuityNumber === 0,
    )!;
    const next = [...watch.segments.values()].find(({ discontinuityNumber }) => discontinuityNumber > 0)!;
    const missingMs = next.programDateTimeMs! - last.programDateTimeMs! - last.durationSeconds * 1000;
    expect(missingMs).toBeLessThan(3000);
    expect(server.lines.some(line => line.includes('"packager-failed"') && line.includes('SIGKILL'))).toBe(
      true,
    );
    await publisher.stop();
    await watch.stop();
    expect(await watch.brokenRules()).toEqual([]);
  });

  test('hangs is detected and replaced', async () => {
    const server = await start(await newFolder());
    const stream = await createLiveStream(server.baseUrl, server.productionKey, 'a stream');
    await using publisher = publishTo(server, stream.streamKey);
    const watch = await StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
    await watch.until(({ realSegments }) => realSegments >= 2, 'two segments');
    const packager = await packagerOf(server);
    process.kill(packager, 'SIGSTOP');
    const before = watch.realSegments;
    // Eight seconds without output, and then the next keyframe.
    await watch.until(({ realSegments }) => realSegments >= before + 2, 'segments of another packager');
    expect(isAlive(packager)).toBe(false);
    await publisher.stop();
    await watch.stop();
    expect(await watch.brokenRules()).toEqual([]);
  });

  test('ends with the server, also when that is killed; the next start tells of the crash, pulls sources, and the key is live again', async () => {
    const dataDir = await newFolder();
    const allowed = { MILLRACE_ALLOW_PRIVATE_TARGETS: 'true' };
    const server = await start(dataDir, { MILLRACE_LIVE_STOP_GRACE: '60s', ...allowed });
    const stream = await createLiveStream(server.baseUrl, server.productionKey, 'a stream');
    await using publisher = publishTo(server, stream.streamKey);
    const watch = await StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
    await watch.until(({ realSegments }) => realSegments >= 2, 'two segments');
    const packager = await packagerOf(server);
    const stopped = await createLiveStream(server.baseUrl, server.productionKey, 'one that is about to end');
    await using encoder = publishTo(server, stopped.streamKey);
    await waitUntil(async () => (await fetch(`${server.baseUrl}/${stopped.liveStreamId}.m3u8`)).ok);
    await encoder.stop();
    await using camera = await startTsSource();
    const api = { baseUrl: server.baseUrl, productionKey: server.productionKey };
    const pulled = await callApi<{ liveStreamId: string }>(api, 'POST', '/live-streams', {
      name: 'a camera',
      source: { url: camera.url },
    });
    const isPulled = async (baseUrl: string) => (await fetch(`${baseUrl}/${pulled.liveStreamId}.m3u8`)).ok;
    await waitUntil(() => isPulled(server.baseUrl), { what: 'the source' });
    const rowsOf = () => {
      const database = new Sqlite(join(dataDir, 'millrace.db'), { readonly: true });
      const rows = database.prepare('SELECT state, end_reason, ended_at_ms FROM broadcasts').all();
      database.close();
      return rows;
    };
    await waitUntil(() => JSON.stringify(rowsOf()).includes('stopping'), { what: 'the publisher to stop' });
    server.child.kill('SIGKILL');
    await server.exited;
    await waitUntil(() => !isAlive(packager), { what: 'the end of ffmpeg' });
    await publisher.exited;
    await watch.stop();
    await waitUntil(() => camera.open === 0, { what: 'the end of the pull' });

    const again = await start(dataDir, allowed);
    const crashed = { state: 'ended', end_reason: 'server-crashed', ended_at_ms: expect.any(Number) };
    const ended = (rowsOf() as { state: string }[]).filter(({ state }) => state === 'ended');
    expect(ended).toEqual([crashed, crashed, crashed]);
    await waitUntil(() => isPulled(again.baseUrl), { what: 'the source after the crash' });
    expect([camera.connections, camera.open]).toEqual([2, 1]);
    await using returned = publishTo(again, stream.streamKey);
    const other = await StreamMonitor.begin(`${again.baseUrl}/${stream.liveStreamId}.m3u8`);
    await other.until(({ realSegments }) => realSegments >= 1, 'a segment');
    expect(new URL(other.mediaUrl).pathname).not.toBe(new URL(watch.mediaUrl).pathname);
    await returned.stop();
    await other.stop();
  });
});

describe.concurrent('SIGTERM in a broadcast', () => {
  test('ends playlists, tells encoders the reason, and exits with 0 within the deadline', async () => {
    const server = await start(await newFolder(), { MILLRACE_DRAIN_TIMEOUT: '30s' });
    const stream = await createLiveStream(server.baseUrl, server.productionKey, 'a stream');
    await using publisher = publishTo(server, stream.streamKey);
    const watch = await StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
    await watch.until(({ realSegments }) => realSegments >= 2, 'two segments');
    const packager = hasProc ? await packagerOf(server) : undefined;
    const msn = watch.newestMsn + 2;
    const waiting = isToldOfTheEnd(watch.mediaUrl, msn);
    const exit = await server.stop();
    expect(exit, server.lines.slice(-10).join('\n')).toEqual({ code: 0, signal: null });
    expect(server.lines.filter(line => line.includes('"component-drain-failed"'))).toEqual([]);
    expect(await waiting).toBe(true);
    await watch.stop();
    expect(watch.ended).toBe(true);
    expect((await publisher.exited).code).not.toBe(0);
    expect(publisher.stderr).toContain('The server is stopping.');
    if (packager !== undefined) expect(isAlive(packager)).toBe(false);
    expect(server.lines.some(line => line.includes('"stopped"'))).toBe(true);
  });

  test.skipIf(!hasProc)('a second one hurries what would take longer', async () => {
    const server = await start(await newFolder(), { MILLRACE_DRAIN_TIMEOUT: '60s' });
    const stream = await createLiveStream(server.baseUrl, server.productionKey, 'a stream');
    await using publisher = publishTo(server, stream.streamKey);
    const watch = await StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
    await watch.until(({ realSegments }) => realSegments >= 1, 'a segment');
    // An ffmpeg that hangs would make the first signal go down the whole ladder.
    const packager = await packagerOf(server);
    process.kill(packager, 'SIGSTOP');
    server.child.kill('SIGTERM');
    await waitUntil(() => server.lines.some(line => line.includes('"stopping"')), {
      what: 'the first signal',
    });
    server.child.kill('SIGTERM');
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(isAlive(packager)).toBe(false);
    await publisher.exited;
    await watch.stop();
  });
});
