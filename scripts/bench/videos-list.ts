import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Video } from '../../src/resources/videos/video.ts';
import { VideosStore } from '../../src/resources/videos/videos.store.ts';
import { openDatabase } from '../../src/store/database.ts';
import { type ServerProcess, startServerProcess } from '../server-process.ts';
import type { Bench } from './bench-context.ts';
import { judge, percentile, type Row } from './report.ts';

const name = 'lists of videos';
const pageSize = 100;
const videosAtOnce = 5_000;
const noLimits = { MILLRACE_RATE_LIMIT_READS: '0', MILLRACE_RATE_LIMIT_WRITES: '0' };
/** Words of titles: the first in most of them, the rest each in some percent. */
const everywhere = 'video';
const words =
  'harbour dawn drone night city street market river mountain forest concert interview tutorial cooking travel football match training keynote product launch review unboxing ocean sunset winter summer spring autumn island desert bridge castle garden kitchen studio theatre museum railway airport'.split(
    ' ',
  );
const sorts = ['title', 'createdAt', 'publishedAt', 'updatedAt'].flatMap(field =>
  ['asc', 'desc'].map(direction => `sortBy=${field}&sortOrder=${direction}`),
);

/** How fast pages of a project with a million videos are answered: first and deep ones in every order, searched and filtered ones. */
export const benchVideosList: Bench = async context => {
  const videos = context.isShort ? 50_000 : 1_000_000;
  const dataDir = await mkdtemp(join(context.folder, 'data-'));
  try {
    // The first start makes the account.
    await (await startServerProcess({ dataDir })).stop();
    fill(dataDir, videos);
    const server = await startServerProcess({ dataDir, env: noLimits });
    try {
      return await measure(server, videos, context.isShort ? 20 : 60);
    } finally {
      await server.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
};

async function measure(server: ServerProcess, videos: number, tries: number): Promise<Row[]> {
  const pages = videos / pageSize;
  const list = (query: string) => call(server, 'GET', `/videos?pageSize=${pageSize}&${query}`);
  const rows: Row[] = [];
  const tell = (what: string, timesMs: readonly number[], atMost?: number): void => {
    const [p50, p95] = [percentile(timesMs, 0.5), percentile(timesMs, 0.95)];
    rows.push(judge(name, { what: `${what}, p50 of ${timesMs.length}`, value: p50, unit: 'ms' }));
    const limit = atMost === undefined ? {} : { atMost };
    rows.push(judge(name, { what: `${what}, p95`, value: p95, unit: 'ms', ...limit }));
  };
  const run = async (what: string, atMost: number | undefined, queries: readonly string[]): Promise<void> => {
    const timesMs: number[] = [];
    for (const query of queries) timesMs.push((await list(query)).ms);
    tell(what, timesMs, atMost);
  };
  const times = <Item>(make: (index: number) => Item) =>
    Array.from({ length: tries }, (_, index) => make(index));
  const deepPage = () => Math.floor(pages * (0.3 + 0.5 * Math.random()));

  await list('currentPage=1');
  await run(
    'first page',
    25,
    times(() => ''),
  );
  for (const sort of sorts) {
    await run(
      `deep page, ${sort.replace('sortBy=', '').replace('&sortOrder=', ' ')}`,
      25,
      times(() => `${sort}&currentPage=${deepPage()}`),
    );
  }
  await run(
    'title in one video',
    100,
    times(index => `title=n${Math.floor((videos * index) / tries)}x`),
  );
  await run(
    'title in 0.1 %',
    100,
    times(
      index => `title=${words[index % words.length]} ${words[(index * 7 + 3) % words.length]}&currentPage=2`,
    ),
  );
  await run(
    'title in 9 %, first time',
    100,
    words.slice(0, Math.min(tries, words.length)).map(word => `title=${word}`),
  );
  const parts = ['vid', 'ide', 'deo', 'vide', 'ideo', 'video'];
  const ofAll = (part: string) => `title=${part}`;
  await run('title in 60 %, first time', 100, parts.map(ofAll));
  await run('one letter, first time', undefined, [...'oneck'].map(ofAll));
  const deepSearch = (sort: string) =>
    `title=${everywhere}&${sort}&currentPage=${Math.floor(deepPage() * 0.6)}`;
  await run('title in 60 %, deep page, first time in its order', undefined, sorts.map(deepSearch));
  const again = times(index => deepSearch(sorts[index % sorts.length]!));
  await run('title in 60 %, deep page, any order, again', 100, again);
  await run(
    'tag of 0.1 %',
    25,
    times(index => `tags[]=t${index * 3}&sortBy=title`),
  );
  await run(
    'tag of half of all, first page',
    25,
    times(() => 'tags[]=half'),
  );
  await run(
    'two tags and a word',
    100,
    times(index => `tags[]=half&tags[]=t${index * 3}&title=${words[index % words.length]}`),
  );
  rows.push(await othersMeanwhile(server));
  const made = [];
  for (let index = 0; index < 5 * tries; index += 1) {
    const body = { title: `${words[index % words.length]} ${everywhere} new${index}`, tags: ['half'] };
    made.push(await call(server, 'POST', '/videos', body));
  }
  tell(
    'POST /videos',
    made.map(({ ms }) => ms),
  );
  const changed = [];
  for (const { json } of made)
    changed.push(await call(server, 'PATCH', `/videos/${json.videoId}`, { title: 'changed' }));
  tell(
    'PATCH of a title',
    changed.map(({ ms }) => ms),
  );
  const { itemsTotal } = (await list('title=changed')).json.pagination;
  if (itemsTotal !== made.length)
    throw new Error(`${itemsTotal} of ${made.length} changed videos were found`);
  return rows;
}

/** How long other calls take while a search counts what nobody has asked for before. */
async function othersMeanwhile(server: ServerProcess): Promise<Row> {
  const [{ videoId }] = (await call(server, 'GET', '/videos?pageSize=1')).json.data as [{ videoId: string }];
  const timesMs: number[] = [];
  for (const letter of 'abcdefgh') {
    const search = call(server, 'GET', `/videos?description=${letter}`);
    let isDone = false;
    void search.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      timesMs.push((await call(server, 'GET', `/videos/${videoId}`)).ms);
      await sleep(2);
    }
    await search;
  }
  const what = `another call during the search of all descriptions, p95 of ${timesMs.length}`;
  return judge(name, { what, value: percentile(timesMs, 0.95), unit: 'ms', atMost: 25 });
}

async function call(
  server: ServerProcess,
  method: string,
  path: string,
  body?: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
): Promise<{ ms: number; json: any }> {
  const fromMs = performance.now();
  const answer = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: { authorization: `Basic ${Buffer.from(`${server.sandboxKey}:`).toString('base64')}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json = await answer.json();
  const ms = performance.now() - fromMs;
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(json)}`);
  return { ms, json };
}

/** Adds videos as the server does, but many in one transaction and without waiting for the disk. */
function fill(dataDir: string, videos: number): void {
  const database = openDatabase({ dataDir });
  try {
    const project = database.sqlite.prepare("SELECT id FROM projects WHERE environment = 'sandbox'").pluck();
    const projectId = project.get() as string;
    const store = new VideosStore(database);
    for (const setting of ['synchronous = OFF', 'wal_autocheckpoint = 50000', 'cache_size = -400000']) {
      database.sqlite.pragma(setting);
    }
    for (let made = 0; made < videos; made += videosAtOnce) {
      database.transaction(() => {
        for (let index = made; index < made + videosAtOnce; index += 1) store.add(videoOf(projectId, index));
      });
    }
  } finally {
    void database.stop();
  }
}

function videoOf(projectId: string, index: number): Video {
  const word = () => words[Math.floor(Math.random() * words.length)]!;
  const atMs = Date.UTC(2025, 0, 1) + index * 20;
  return {
    videoId: `vi${Math.random().toString(36).slice(2, 12)}${String(index).padStart(12, '0')}`,
    projectId,
    title: `${word()} ${word()} ${Math.random() < 0.6 ? everywhere : 'film'} ${word()} ${word()} n${index}x`,
    description: `Number ${index}: a ${word()} by the ${word()}.`,
    public: true,
    panoramic: false,
    mp4Support: true,
    playerId: undefined,
    tags: [...(index % 2 === 0 ? ['half'] : []), `t${index % 1_000}`],
    metadata: [],
    language: undefined,
    liveStreamId: undefined,
    createdAtMs: atMs,
    publishedAtMs: atMs,
    updatedAtMs: atMs + Math.floor(Math.random() * 1e9),
    discarded: undefined,
  };
}
