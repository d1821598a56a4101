import { setTimeout as sleep } from 'node:timers/promises';
import { type Bench, makeStream, publish, withServer } from './bench-context.ts';
import { usageOf } from './process-usage.ts';
import { judge } from './report.ts';
import { followParts, waitUntilPlayable } from './viewer.ts';

const name = 'memory';
const streamCount = 6;
const mebibyte = 1024 * 1024;
/** Media of ended broadcasts leaves the memory after a minute, and the server gives memory back once a minute. */
const idleMs = 240_000;
const env = { MILLRACE_RECORDING_ENABLED: 'true' };

/** Compares the memory of a server before, during and after broadcasts that are watched and recorded. */
export const benchMemory: Bench = context =>
  withServer(context, env, async server => {
    const pssOf = () => usageOf([server.child.pid!]).pssBytes / mebibyte;
    await sleep(15_000);
    const fresh = pssOf();
    const streams = [];
    for (let index = 0; index < streamCount; index += 1) streams.push(await makeStream(server));
    const publisher = publish(context, server, streams, { staggerMs: 97 });
    await publisher.report(report => report.kind === 'all-started');
    const end = new AbortController();
    const viewers: Promise<void>[] = [];
    for (const { liveStreamId } of streams) {
      const { mediaUrl } = await waitUntilPlayable(server, liveStreamId);
      viewers.push(followParts(mediaUrl, () => {}, end.signal));
    }
    let peak = 0;
    const endMs = performance.now() + (context.isShort ? 30_000 : 600_000);
    while (performance.now() < endMs) {
      await sleep(1000);
      peak = Math.max(peak, pssOf());
    }
    end.abort();
    await Promise.all(viewers);
    await publisher.stop();
    await sleep(idleMs);
    const after = pssOf();
    const row = (what: string, value: number, unit: string, max?: number) =>
      judge(name, { what, value, unit, max });
    return [
      row('server that nobody has used (PSS)', fresh, 'MiB'),
      row(`${streamCount} broadcasts with a viewer each: by the fresh server`, peak / fresh, '×'),
      row('four minutes after the last one: by the fresh server', after / fresh, '×'),
      row('four minutes after the last one: beyond the fresh server', after - fresh, 'MiB', 40),
    ];
  });
