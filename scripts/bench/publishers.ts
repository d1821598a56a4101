import { setTimeout as sleep } from 'node:timers/promises';
import type { MediaPlaylist } from '../../src/media/hls/media-playlist.ts';
import { parseMediaPlaylist } from '../parse-media-playlist.ts';
import { type Bench, makeStream, publish, withServer } from './bench-context.ts';
import { processTree, treeCpuSeconds, usageOf } from './process-usage.ts';
import { RawHttp } from './raw-http.ts';
import { judge, type Row } from './report.ts';
import { followParts, type PartArrival, waitUntilPlayable } from './viewer.ts';

const streamCount = 200;
const name = `${streamCount} publishers`;
/** Every tenth stream has a viewer, who sees when parts arrive. */
const watchedEvery = 10;
const maxLateMs = 200;
const mebibyte = 1024 * 1024;
/** Poll interval, less than what playlists list, so that no part can come and go unseen. */
const pollEveryMs = 4000;
/** Settings with which ten minutes of two hundred streams fit on a disk. */
const env = { MILLRACE_RECORDING_ENABLED: 'false', MILLRACE_LIVE_REWIND: '1m' };

/** Looks for missing and late parts of more publishers than most servers ever have. */
export const benchPublishers: Bench = context =>
  withServer(context, env, async server => {
    const streams = [];
    for (let index = 0; index < streamCount; index += 1) streams.push(await makeStream(server));
    const pid = server.child.pid!;
    await sleep(3000);
    const idle = usageOf(processTree(pid));
    const publisher = publish(context, server, streams, { staggerMs: 47, tellFramesOfEvery: watchedEvery });
    await publisher.report(report => report.kind === 'all-started');

    const end = new AbortController();
    const arrivals = new Map<number, PartArrival[]>();
    const checks: PartChecks[] = [];
    const followed: Promise<void>[] = [];
    const failures: string[] = [];
    for (const [index, stream] of streams.entries()) {
      const { mediaUrl } = await waitUntilPlayable(server, stream.liveStreamId);
      checks.push(new PartChecks(new URL(mediaUrl).pathname));
      if (index % watchedEvery !== 0) continue;
      const parts: PartArrival[] = [];
      arrivals.set(index, parts);
      const following = followParts(mediaUrl, part => parts.push(part), end.signal);
      followed.push(following.catch((error: unknown) => void failures.push(String(error))));
    }
    // Skips earlier parts: those before the first request tell nothing.
    await sleep(5000);
    const skippedParts = new Map([...arrivals].map(([index, parts]) => [index, parts.length]));
    const before = treeCpuSeconds(pid);
    const startedMs = performance.now();
    const endMs = startedMs + (context.isShort ? 30_000 : 600_000);
    const http = new RawHttp(server.httpPort);
    while (performance.now() < endMs) {
      const nextMs = performance.now() + pollEveryMs;
      for (const check of checks) check.read(await fetchText(http, check.path));
      await sleep(Math.max(0, nextMs - performance.now()));
    }
    const seconds = (performance.now() - startedMs) / 1000;
    const processor = (100 * (treeCpuSeconds(pid) - before)) / seconds;
    const memory = usageOf(processTree(pid)).pssBytes - idle.pssBytes;
    http.close();
    end.abort();
    await Promise.all(followed);
    await publisher.stop();

    const sentMs = new Map<number, number[]>();
    for (const { kind, stream, atMs } of publisher.reports) {
      if (kind !== 'frame') continue;
      const times = sentMs.get(stream);
      if (times === undefined) sentMs.set(stream, [atMs]);
      else times.push(atMs);
    }
    const lagsMs = [...arrivals].flatMap(([index, parts]) =>
      parts
        .slice(skippedParts.get(index))
        .map(part => part.atMs - (sentMs.get(index)?.[part.lastFrame] ?? Number.NaN)),
    );
    if (failures.length > 0) console.error(failures.slice(0, 3).join('\n'));
    const listed = checks.reduce((sum, check) => sum + check.listed, 0);
    const missing = checks.reduce((sum, check) => sum + check.missing, 0);
    const late = lagsMs.filter(lagMs => !(lagMs <= maxLateMs)).length;
    const row = (what: string, value: number, unit: string, max?: number): Row =>
      judge(name, { what, value, unit, max });
    return [
      row(`parts missing in ${Math.round(seconds)} s`, missing, `of ${listed}`, 0),
      row(`parts more than ${maxLateMs} ms after their last frame was sent`, late, `of ${lagsMs.length}`, 0),
      row('viewers whose next part did not come', failures.length, `of ${followed.length}`, 0),
      row('last frame sent to part received, longest', Math.max(...lagsMs), 'ms'),
      row('processor of the server', processor, '% of a core'),
      row('memory (PSS) a stream beyond idle', memory / streamCount / mebibyte, 'MiB'),
    ];
  });

async function fetchText(http: RawHttp, path: string): Promise<string> {
  const { status, body } = await http.get(path);
  if (status !== 200) throw new Error(`${path} answered ${status}`);
  return body.toString();
}

/** Counts the parts of one stream that its playlists list, and those that they skip. */
class PartChecks {
  readonly path: string;
  listed = 0;
  missing = 0;
  #newest: number | undefined;

  constructor(path: string) {
    this.path = path;
  }

  read(text: string): void {
    const playlist = parseMediaPlaylist(text);
    this.missing += playlist.segments.filter(segment => segment.gap).length;
    for (const number of partNumbers(playlist)) {
      if (this.#newest !== undefined && number <= this.#newest) continue;
      if (this.#newest !== undefined) this.missing += number - this.#newest - 1;
      this.#newest = number;
      this.listed += 1;
    }
  }
}

function partNumbers({ segments, openParts }: MediaPlaylist): number[] {
  return [...segments, ...(openParts === undefined ? [] : [openParts])].flatMap(({ parts }) =>
    parts.map(({ uri }) => Number(/part-(\d+)\./.exec(uri)?.[1])),
  );
}
