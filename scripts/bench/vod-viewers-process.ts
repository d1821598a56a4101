/**
 * Viewers of videos: each plays one from its beginning, with audio, and keeps some seconds ahead of what it shows. Started with one
 * argument, a {@link VodViewersOrder} as JSON; sends one {@link VodViewersReport} when it is told to stop, and ends.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { parseMediaPlaylist } from '../../src/media/hls/parse-media-playlist.ts';
import { RawHttp } from './raw-http.ts';

export interface VodViewersOrder {
  readonly port: number;
  /** Of the multivariant playlists; each has one viewer. */
  readonly paths: readonly string[];
  /** The viewers begin spread over this time. */
  readonly spreadMs: number;
}

export interface VodViewersReport {
  /** From asking for the playlist to having the first segments. */
  readonly startsMs: readonly number[];
  /** From asking for a segment to having it. */
  readonly segmentsMs: readonly number[];
  /** Durations of the stalls. */
  readonly stallsMs: readonly number[];
  readonly bytes: number;
  readonly failures: readonly string[];
}

/** As far ahead as players with a small buffer go. */
const aheadMs = 12_000;
const order = JSON.parse(process.argv[2] ?? '') as VodViewersOrder;
const startsMs: number[] = [];
const segmentsMs: number[] = [];
const stallsMs: number[] = [];
const failures: string[] = [];
let bytes = 0;
let isOver = false;
process.once('message', () => {
  isOver = true;
  const report: VodViewersReport = { startsMs, segmentsMs, stallsMs, bytes, failures };
  process.send?.(report, () => process.exit(0));
});
for (const [index, path] of order.paths.entries()) {
  void watch(path, (index * order.spreadMs) / order.paths.length).catch((error: unknown) => {
    if (!isOver) failures.push(`${path}: ${String(error)}`);
  });
}

async function watch(path: string, waitMs: number): Promise<void> {
  await sleep(waitMs);
  const http = new RawHttp(order.port);
  const askedMs = performance.now();
  const { variants, media } = parseMultivariantPlaylist((await fetchBytes(http, path)).toString());
  // The highest quality: the one that comes out of the uploaded file.
  const variant = variants.toSorted((a, b) => b.bandwidthBitsPerSecond - a.bandwidthBitsPerSecond)[0]!;
  const audio = media.find(({ groupId }) => groupId === variant.audioGroup)?.uri;
  const lists = [];
  for (const uri of audio === undefined ? [variant.uri] : [variant.uri, audio]) {
    const listPath = resolve(path, uri);
    lists.push({ listPath, list: parseMediaPlaylist((await fetchBytes(http, listPath)).toString()) });
  }
  for (const { listPath, list } of lists) {
    const { map } = list.segments[0]!;
    if (map !== undefined) await fetchBytes(http, resolve(listPath, map.uri));
  }
  /** When the next segment has to be there, once the picture moves. */
  let dueMs: number | undefined;
  for (const [index, { durationSeconds }] of lists[0]!.list.segments.entries()) {
    if (dueMs !== undefined) await sleep(Math.max(0, dueMs - aheadMs - performance.now()));
    if (isOver) return;
    for (const { listPath, list } of lists) {
      const segment = list.segments[index];
      if (segment === undefined) continue;
      const beginMs = performance.now();
      bytes += (await fetchBytes(http, resolve(listPath, segment.uri))).length;
      segmentsMs.push(performance.now() - beginMs);
    }
    const nowMs = performance.now();
    if (dueMs === undefined) startsMs.push(nowMs - askedMs);
    else if (nowMs > dueMs) stallsMs.push(nowMs - dueMs);
    dueMs = Math.max(dueMs ?? nowMs, nowMs) + durationSeconds * 1000;
  }
  http.close();
}

function resolve(path: string, uri: string): string {
  const { pathname, search } = new URL(uri, `http://viewer${path}`);
  return pathname + search;
}

async function fetchBytes(http: RawHttp, path: string): Promise<Buffer> {
  const answer = await http.get(path);
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
  return answer.body;
}
