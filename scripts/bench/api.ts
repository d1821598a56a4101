import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { basicAuthorization, type ServerProcess, startServerProcess } from '../server-process.ts';
import type { ApiLoad, ApiLoadOrder, ApiLoadReport } from './api-load-process.ts';
import { type Bench, HelperProcess } from './bench-context.ts';
import { pinToCore } from './machine.ts';
import { everywhere, fillWithVideos, words } from './many-videos.ts';
import { judge, type Row } from './report.ts';

const name = 'API';
const connections = 64;
/** The targets are for one core: the server has the first one, the generator another. */
const serverCore = 0;
const generatorCore = 1;
const p99AtMostMs = 30;
/** The log of so many new videos is read first, and a busy machine takes its time. */
const startTimeoutMs = 120_000;
const noLimits = { MILLRACE_RATE_LIMIT_READS: '0', MILLRACE_RATE_LIMIT_WRITES: '0' };

/** Requests per second that the API answers on one core, with a million videos in the database. */
export const benchApi: Bench = async context => {
  const videos = context.isShort ? 50_000 : 1_000_000;
  const dataDir = await mkdtemp(join(context.folder, 'data-'));
  try {
    // The first start makes the account.
    await (await startServerProcess({ dataDir, startTimeoutMs })).stop();
    await fillWithVideos(dataDir, videos);
    const server = await startServerProcess({ dataDir, env: noLimits, startTimeoutMs });
    try {
      return await measureApi(server, context.isShort ? 3 : 10);
    } finally {
      await server.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
};

async function measureApi(server: ServerProcess, seconds: number): Promise<Row[]> {
  const authorization = basicAuthorization(server.productionKey);
  const videoIds = await someVideoIds(server, authorization);
  const with64 = (load: Omit<ApiLoad, 'connections' | 'authorization'>): ApiLoad => ({
    connections,
    authorization,
    ...load,
  });
  const one = with64({
    name: 'GET /videos/{videoId}',
    method: 'GET',
    paths: videoIds.map(videoId => `/videos/${videoId}`),
    status: 200,
  });
  const create = with64({
    name: 'POST /videos',
    method: 'POST',
    paths: ['/videos'],
    bodies: words.flatMap((word, index) =>
      words.slice(0, 8).map(other => {
        const title = `${word} ${other} ${everywhere} ${words[(index * 7) % words.length]}`;
        return JSON.stringify({ title, description: `A ${word} by the ${other}.`, tags: ['half'] });
      }),
    ),
    status: 201,
  });
  const list = with64({
    name: 'GET /videos?pageSize=25',
    method: 'GET',
    paths: ['/videos?pageSize=25'],
    status: 200,
  });
  // Two letters are too few for an index, and no two searches are alike, so that each looks through all videos.
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const search: ApiLoad = {
    ...with64({
      name: 'search of all descriptions',
      method: 'GET',
      paths: letters.flatMap(first => letters.map(second => `/videos?description=${first}${second}`)),
      status: 200,
    }),
    connections: 1,
  };
  const loopDelay = async (): Promise<number> => {
    const text = await (await fetch(`${server.baseUrl}/metrics`)).text();
    const seconds = /^millrace_event_loop_delay_seconds\{quantile="1"\} (\S+)/m.exec(text)?.[1];
    return Number(seconds ?? Number.NaN) * 1_000;
  };
  const run = async (port: number, loads: readonly ApiLoad[]): Promise<ApiLoadReport> => {
    const order: ApiLoadOrder = { port, seconds, loads };
    const generator = new HelperProcess<ApiLoadReport>('./api-load-process.ts', order);
    pinToCore(generator.child.pid!, generatorCore);
    return generator.report();
  };
  const rows: Row[] = [];
  const tell = async (
    loads: readonly ApiLoad[],
    leasts: readonly (number | undefined)[],
    label = (what: string) => what,
  ): Promise<number> => {
    await loopDelay();
    const report = await run(server.httpPort, loads);
    const delayMs = await loopDelay();
    for (const [index, result] of report.entries()) {
      const what = label(result.name);
      const least = leasts[index];
      const limits = least === undefined ? [{}, {}] : [{ min: least }, { max: p99AtMostMs }];
      rows.push(
        judge(name, {
          what: `${what}, requests a second, ${loads[index]!.connections} connections`,
          value: Math.round(result.requestsPerSecond),
          unit: '',
          ...limits[0],
        }),
        judge(name, { what: `${what}, p50`, value: result.p50Ms, unit: 'ms' }),
        judge(name, { what: `${what}, p99`, value: result.p99Ms, unit: 'ms', ...limits[1] }),
        judge(name, { what: `${what}, wrong answers`, value: result.failures, unit: '', max: 0 }),
      );
    }
    const what = `${label(loads.map(load => load.name).join(' + '))}, longest delay of the event loop`;
    rows.push(judge(name, { what, value: delayMs, unit: 'ms' }));
    return report[0]!.requestsPerSecond;
  };

  // Made once for each start, in the first seconds: by now, and not while requests are counted.
  await (await fetch(`${server.baseUrl}/dashboard`)).text();
  const isPinned = pinToCore(server.child.pid!, serverCore);
  if (!isPinned) console.error('The server could not be kept to one core.');
  const answer = await fetch(`${server.baseUrl}${one.paths[0]}`, { headers: { authorization } });
  const trivial = await measureTrivial(await answer.text(), run);
  rows.push(
    judge(name, {
      what: 'a Koa application that answers with one text, requests a second',
      value: Math.round(trivial),
      unit: '',
    }),
  );
  for (const [load, least] of [
    [one, 6_000],
    [list, 2_500],
    [create, 2_500],
  ] as const) {
    const requestsPerSecond = await tell([load], [least]);
    rows.push(
      judge(name, {
        what: `${load.name}, as a share of the Koa application`,
        value: requestsPerSecond / trivial,
        unit: '×',
        better: 'higher',
      }),
    );
  }
  const half = connections / 2;
  await tell(
    [
      { ...one, connections: half },
      { ...create, connections: half },
    ],
    [],
    what => `mixed: ${what}`,
  );
  await tell([one, search], [], what => `with searches: ${what}`);
  return rows;
}

/** Requests a second of a Koa application without anything of ours. */
async function measureTrivial(
  text: string,
  run: (port: number, loads: readonly ApiLoad[]) => Promise<ApiLoadReport>,
): Promise<number> {
  const process = new HelperProcess<{ port: number }>('./trivial-koa-process.ts', JSON.parse(text));
  try {
    const { port } = await process.report();
    pinToCore(process.child.pid!, serverCore);
    const load = { name: 'trivial', connections, method: 'GET', paths: ['/'], status: 200 } as const;
    const [result] = await run(port, [load]);
    return result!.requestsPerSecond;
  } finally {
    await process.stop();
  }
}

/** Ids of videos from all over the list. */
async function someVideoIds(server: ServerProcess, authorization: string): Promise<string[]> {
  const list = async (query: string) => {
    const answer = await fetch(`${server.baseUrl}/videos?${query}`, { headers: { authorization } });
    return (await answer.json()) as {
      data: { videoId: string }[];
      pagination: { pagesTotal: number };
    };
  };
  const { pagination } = await list('pageSize=100');
  const ids: string[] = [];
  for (let step = 0; step < 10; step += 1) {
    const currentPage = 1 + Math.floor((step * (pagination.pagesTotal - 1)) / 10);
    const { data } = await list(`pageSize=100&currentPage=${currentPage}`);
    ids.push(...data.map(video => video.videoId));
  }
  return ids;
}
