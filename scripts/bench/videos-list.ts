import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerProcess, startServerProcess } from '../server-process.ts';
import type { Bench } from './bench-context.ts';
import { everywhere, fillWithVideos, words } from './many-videos.ts';
import { judge, percentile, type Row } from './report.ts';

const name = 'lists of videos';
const pageSize = 100;
const noLimits = { MILLRACE_RATE_LIMIT_READS: '0', MILLRACE_RATE_LIMIT_WRITES: '0' };
const sorts = ['title', 'createdAt', 'publishedAt', 'updatedAt'].flatMap(field =>
  ['asc', 'desc'].map(direction => `sortBy=${field}&sortOrder=${direction}`),
);

/** Response times of list pages of a million videos: first and deep pages in every order, searches and filters. */
export const benchVideosList: Bench = async context => {
  const videos = context.isShort ? 50_000 : 1_000_000;
  const dataDir = await mkdtemp(join(context.folder, 'data-'));
  try {
    // The first start makes the account.
    await (await startServerProcess({ dataDir })).stop();
    await fillWithVideos(dataDir, videos);
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
  const tell = (what: string, timesMs: readonly number[], max?: number): void => {
    const [p50, p95] = [percentile(timesMs, 0.5), percentile(timesMs, 0.95)];
    rows.push(judge(name, { what: `${what}, p50 of ${timesMs.length}`, value: p50, unit: 'ms' }));
    const limit = max === undefined ? {} : { max };
    rows.push(judge(name, { what: `${what}, p95`, value: p95, unit: 'ms', ...limit }));
  };
  const run = async (what: string, max: number | undefined, queries: readonly string[]): Promise<void> => {
    const timesMs: number[] = [];
    for (const query of queries) timesMs.push((await list(query)).ms);
    tell(what, timesMs, max);
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

/** Response times of other calls during a search that is not cached. */
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
  return judge(name, { what, value: percentile(timesMs, 0.95), unit: 'ms', max: 25 });
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
    headers: { authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}` },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const json = await answer.json();
  const ms = performance.now() - fromMs;
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(json)}`);
  return { ms, json };
}
