import { randomBytes } from 'node:crypto';
import { TrafficStore } from '../../src/operations/usage/traffic.store.ts';
import {
  AnalyticsWritesStore,
  type PlaybackUpdate,
} from '../../src/resources/analytics/reports/analytics-writes.store.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { TokenBuckets } from '../../src/shared/token-buckets.ts';
import type { Database } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { textQuery } from '../../src/store/raw-query.ts';

const dayMs = 86_400_000;
const days = 31;
const slotMs = 10_000;

const countries = [
  ['FR', 'EU', 30],
  ['DE', 'EU', 18],
  ['US', 'NA', 14],
  ['GB', 'EU', 10],
  ['ES', 'EU', 8],
  ['CA', 'NA', 6],
  ['BR', 'SA', 5],
  ['JP', 'AS', 4],
  ['NL', 'EU', 3],
  ['AU', 'OC', 2],
] as const;
const devices = [
  ['computer', 'windows', 'chrome', 26],
  ['phone', 'android', 'chrome', 24],
  ['phone', 'ios', 'safari', 20],
  ['computer', 'mac osx', 'safari', 12],
  ['computer', 'linux', 'firefox', 8],
  ['computer', 'windows', 'edge', 6],
  ['tablet', 'ios', 'safari', 4],
] as const;
const referrers = [
  ['https://www.example.org/films', 40],
  ['https://blog.example.com/', 25],
  ['https://news.example.net/today', 15],
  ['', 20],
] as const;

/** Media that was watched. */
export interface WatchedMedia {
  readonly mediaId: string;
  readonly type: 'video' | 'live-stream';
  readonly seconds: number;
  /** Number of views, relative to the others. */
  readonly weight: number;
}

/**
 * Writes a month of views and traffic into the database of a stopped server through the server's own stores, and backdates its
 * resources.
 */
export async function writeViewingHistory(dataDir: string, media: readonly WatchedMedia[]): Promise<void> {
  const database = await openDatabase({ dataDir });
  try {
    await database.start(new AbortController().signal);
    const project = await database.first(
      database.queries.selectFrom('projects').select('id').where('environment', '=', 'production'),
    );
    const projectId = project!.id;
    await backdate(database, media);
    await writeViewing(database, projectId, media);
    await writeTraffic(database, projectId);
  } finally {
    await database.stop();
  }
}

/** Spreads the videos over the last weeks. */
async function backdate(database: Database, media: readonly WatchedMedia[]): Promise<void> {
  const nowMs = Date.now();
  const run = (text: string, ...values: (number | string)[]) =>
    database.run(textQuery(database, text, values));
  const video = 'UPDATE videos SET created_at_ms = ?, published_at_ms = ?, updated_at_ms = ? WHERE id = ?';
  for (const [index, { mediaId, type }] of media.entries()) {
    const atMs = nowMs - Math.round((media.length - index) * 2.4 * dayMs + index * 47 * 60_000);
    if (type === 'video') await run(video, atMs, atMs, atMs, mediaId);
  }
  const madeMs = nowMs - 40 * dayMs;
  for (const table of [
    'accounts',
    'live_streams',
    'players',
    'watermarks',
    'webhooks',
    'api_keys',
    'key_pairs',
  ]) {
    await run(`UPDATE ${table} SET created_at_ms = ?`, madeMs);
  }
}

async function writeViewing(
  database: Database,
  projectId: string,
  media: readonly WatchedMedia[],
): Promise<void> {
  const newNames = new TokenBuckets({ perMinute: 1_000, burst: 1_000, maxNames: 10, clock: systemClock });
  const writes = new AnalyticsWritesStore(database, { ofViewers: newNames, ofOthers: newNames });
  const random = numbersFrom(7);
  const pick = <Item extends readonly unknown[]>(items: readonly Item[]): Item => {
    const weightOf = (item: Item) => item.at(-1) as number;
    let left = random() * items.reduce((sum, item) => sum + weightOf(item), 0);
    for (const item of items) {
      left -= weightOf(item);
      if (left < 0) return item;
    }
    return items[0]!;
  };
  const endMs = Date.now() - 60_000;
  for (let day = days; day >= 0; day -= 1) {
    const startMs = Math.floor(endMs / dayMs - day) * dayMs;
    const isWeekend = [0, 6].includes(new Date(startMs).getUTCDay());
    const growth = 1 + (days - day) / days;
    const plays = Math.round((isWeekend ? 95 : 60) * growth * (0.85 + random() * 0.3));
    const updates: PlaybackUpdate[] = [];
    for (let play = 0; play < plays; play += 1) {
      // Views peak in the evening.
      const hour = 12 + 8 * (random() + random() + random() - 1) + (random() < 0.3 ? 3 : 0);
      const atMs = startMs + Math.min(23.9, Math.max(0, hour)) * 3_600_000;
      if (atMs > endMs) continue;
      const [watched] = pick(media.map(one => [one, one.weight] as const));
      const [country, continent] = pick(countries);
      const [device, system, browser] = pick(devices);
      const [referrer] = pick(referrers);
      const isPlayed = random() < 0.72;
      const seconds = isPlayed ? Math.ceil(watched.seconds * Math.min(1, 0.15 + random())) : 0;
      const views = [3, 5, 10, 30].map(least => Number(seconds >= least));
      const firstSlot = Math.floor(atMs / slotMs);
      updates.push({
        key: randomBytes(16),
        context: {
          projectId,
          viewer: Math.floor(random() * 2 ** 40),
          'media-id': watched.mediaId,
          'media-type': watched.type,
          continent,
          country,
          'device-type': device,
          'operating-system': system,
          browser,
          referrer,
          'viewer-id': '',
        },
        progress: undefined,
        stored: undefined,
        state: { counted: 0, watchedMs: seconds * 1000, lastEventMs: atMs },
        counts: new Map([
          [
            Math.floor(atMs / 60_000) * 60,
            [
              ...[1, Number(isPlayed), Number(isPlayed), Number(seconds >= watched.seconds)],
              ...[180 + Math.floor(random() * 400), 1, seconds * 1000, Number(isPlayed), ...views],
            ],
          ],
        ]),
        intervals: isPlayed
          ? [
              {
                firstSlot,
                lastSlot: firstSlot + Math.floor(seconds / 10),
                endSlot: firstSlot + Math.floor(seconds / 10),
                replacesEnd: false,
                views: views.reduce((bits, view, index) => bits | (view << index), 0),
              },
            ]
          : [],
      });
    }
    for (let from = 0; from < updates.length; from += 50) {
      await writes.write(updates.slice(from, from + 50), startMs, true);
    }
  }
}

async function writeTraffic(database: Database, projectId: string): Promise<void> {
  const traffic = new TrafficStore(database);
  const random = numbersFrom(3);
  const today = Math.floor(Date.now() / dayMs);
  for (let ago = 30; ago >= 0; ago -= 1) {
    const isWeekend = [0, 6].includes(new Date((today - ago) * dayMs).getUTCDay());
    const share = (ago === 0 ? 0.5 : 1) * (isWeekend ? 1.5 : 1) * (1 + (30 - ago) / 40);
    await traffic
      .addition(
        today - ago,
        new Map([
          [
            projectId,
            {
              liveBytes: Math.round(4.2e9 * share * (0.5 + random())),
              vodBytes: Math.round(6.8e9 * share * (0.7 + random() * 0.6)),
            },
          ],
        ]),
      )
      .run();
  }
}

/** Reproducible numbers from 0 to 1. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}
