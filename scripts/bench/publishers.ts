import { setTimeout as sleep } from 'node:timers/promises';
import { embeddedFfmpegPath } from '../../src/ffmpeg/build/find-ffmpeg.ts';
import type { ServerProcess } from '../server-process.ts';
import { type Bench, type BenchContext, makeStream, publish, withServer } from './bench-context.ts';
import { processTree, type Usage, usageOf } from './process-usage.ts';
import { judge, percentile, type Row } from './report.ts';
import { fetchPlaylist, waitUntilPlayable } from './viewer.ts';

const streamCount = 20;
const mebibyte = 1024 * 1024;

/** Measures twenty publishers: with the ffmpeg that the server finds, and with the embedded one, which is one file without libraries. */
export const benchPublishers: Bench = async context => {
  const rows = await measure(context, '20 publishers', {});
  if (context.ffmpeg.source === 'embedded') return rows;
  const name = '20 publishers, ffmpeg.path set to the embedded build';
  return [...rows, ...(await measure(context, name, { MILLRACE_FFMPEG_PATH: embeddedFfmpegPath() }))];
};

async function measure(
  context: BenchContext,
  name: string,
  env: Readonly<Record<string, string>>,
): Promise<Row[]> {
  const seconds = context.isShort ? 20 : 60;
  return withServer(context, env, async server => {
    const streams = [];
    for (let index = 0; index < streamCount; index += 1) streams.push(await makeStream(server));
    await sleep(3000);
    const idle = measureUsage(server);
    const publisher = publish(context, server, streams, { staggerMs: 97 });
    await publisher.report(report => report.kind === 'all-started');
    const follower = new SegmentFollower();
    const end = new AbortController();
    const following = streams.map(async stream => {
      const { mediaUrl } = await waitUntilPlayable(server, stream.liveStreamId);
      await follower.follow(mediaUrl, end.signal);
    });
    // Starting an ffmpeg costs more than feeding it.
    await sleep(5000);
    const before = measureUsage(server);
    const startedMs = performance.now();
    await sleep(seconds * 1000);
    const elapsedSeconds = (performance.now() - startedMs) / 1000;
    const after = measureUsage(server);
    end.abort();
    await Promise.all(following);
    await publisher.stop();

    const share = (usage: (measured: Measured) => Usage) =>
      (100 * (usage(after).cpuSeconds - usage(before).cpuSeconds)) / elapsedSeconds / streamCount;
    const megabytes = (bytes: number) => bytes / mebibyte / streamCount;
    const row = (what: string, value: number, unit: string, max?: number) =>
      judge(name, { what, value, unit, ...(max === undefined ? {} : { max }) });
    return [
      row('segments that were missing', follower.missing, `of ${follower.lagsMs.length}`, 0),
      row(
        'segments listed more than half a target duration late',
        follower.late,
        `of ${follower.lagsMs.length}`,
        0,
      ),
      row('end of a segment to its being listed, p99', percentile(follower.lagsMs, 0.99), 'ms'),
      row(
        'processor a stream',
        share(measured => measured.all),
        '% of a core',
        0.8,
      ),
      row(
        'of that: the server',
        share(measured => measured.server),
        '%',
      ),
      row(
        'of that: its ffmpeg',
        share(measured => measured.ffmpegs),
        '%',
      ),
      row('memory (PSS) a stream beyond idle', megabytes(after.all.pssBytes - idle.all.pssBytes), 'MiB', 20),
      row('of that: the server', megabytes(after.server.pssBytes - idle.server.pssBytes), 'MiB'),
      row('of that: its ffmpeg', megabytes(after.ffmpegs.pssBytes), 'MiB'),
    ];
  });
}

interface Measured {
  readonly all: Usage;
  readonly server: Usage;
  readonly ffmpegs: Usage;
}

function measureUsage(server: ServerProcess): Measured {
  const tree = processTree(server.child.pid!);
  return { all: usageOf(tree), server: usageOf(tree.slice(0, 1)), ffmpegs: usageOf(tree.slice(1)) };
}

/** Watches playlists grow, segment by segment. */
class SegmentFollower {
  missing = 0;
  late = 0;
  /** From the end of each segment, by its date, to the answer that lists it. */
  readonly lagsMs: number[] = [];

  async follow(mediaUrl: string, signal: AbortSignal): Promise<void> {
    const first = await fetchPlaylist(mediaUrl);
    let sequence = first.mediaSequence + first.segments.length;
    while (!signal.aborted) {
      const playlist = await fetchPlaylist(mediaUrl, `_HLS_msn=${sequence}`);
      const atMs = Date.now();
      const segment = playlist.segments[sequence - playlist.mediaSequence];
      if (segment === undefined || segment.gap) {
        this.missing += 1;
      } else {
        const endMs = (segment.programDateTimeMs ?? Number.NaN) + segment.durationSeconds * 1000;
        this.lagsMs.push(atMs - endMs);
        if (atMs - endMs > playlist.targetDurationSeconds * 500) this.late += 1;
        const answer = await fetch(new URL(segment.uri, mediaUrl), { method: 'HEAD' });
        if (!answer.ok) this.missing += 1;
      }
      sequence += 1;
    }
  }
}
