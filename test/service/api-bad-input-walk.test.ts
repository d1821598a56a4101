import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiDocument, operationsOf, responseAt } from '../../scripts/api-document.ts';
import { addAudioTracks } from '../support/audio-tracks.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import { type HttpReply, HttpTestClient } from '../support/http-test-client.ts';
import { formWith, pngImage } from '../support/images.ts';
import { addPasskey } from '../support/passkeys.ts';
import { admin, signIn } from '../support/sign-in.ts';
import { rowsByTable, rowsOf } from '../support/sql.ts';
import { basic, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  type BadRequest,
  badRequestsOf,
  randomRequest,
  seeded,
  type WalkedOperation,
} from './bad-input-requests.ts';

const seed = Number(process.env.MILLRACE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const chances = 1_500;
/** Longer than usual, for twenty thousand requests on a busy machine; each has a deadline of its own. */
const walkTimeoutMs = 900_000;
/** Strings that no answer may reveal: our files, our words, our database. */
const leak =
  /\/src\/|node_modules|\.ts:\d|\bat [\w.<>]+ \(|SQLITE|SqliteError|ZodError|TypeError|RangeError|millrace-/;

let server: TestApi;
let asker: HttpTestClient;
let operations: readonly WalkedOperation[];
/** Values of the names in paths. */
let known: Readonly<Record<string, string>>;
const unhandled: unknown[] = [];
const logged: unknown[] = [];
const note = (error: unknown) => void unhandled.push(error);
let cookie: string;
/** Headers that keep the session. */
const headersOf = ({ method, path }: WalkedOperation) => ({
  authorization: basic(sandboxKey),
  ...(`${method} ${path}` === 'DELETE /auth/session' ? {} : { cookie }),
});

beforeAll(async () => {
  process.on('unhandledRejection', note).on('uncaughtException', note);
  server = await startApi({
    rateLimits: { uploads: 0, writes: 0, reads: 0 },
    analytics: { reportsPerMinute: 0 },
    videos: { restoreDays: () => 90 },
    bodyTimeoutMs: 5_000,
    log: logOfFailures(),
  });
  cookie = await signIn(server);
  asker = new HttpTestClient(server.listener.httpPort);
  const document: ApiDocument = (await server.call('GET', '/openapi.json', { key: null })).json;
  operations = operationsOf(document).filter(({ operation }) =>
    Object.values(operation.responses).some(
      response => responseAt(document, response).headers?.['X-Request-Id'] !== undefined,
    ),
  );
  const made = async (path: string, body: unknown = {}) => (await server.call('POST', path, { body })).json;
  const { videoId } = await made('/videos', { title: 'a' });
  const discarded = (await made('/videos', { title: 'b' })).videoId;
  await server.call('DELETE', `/videos/${discarded}`);
  await addAudioTracks(server, videoId);
  await made(`/videos/${videoId}/captions/en`, formWith(['file', Buffer.from('WEBVTT\n'), 'a.vtt']));
  await made(`/videos/${videoId}/chapters/en`, formWith(['file', Buffer.from('WEBVTT\n'), 'a.vtt']));
  await made('/watermarks', formWith(['file', pngImage(4, 4), 'a.png']));
  const hook = { url: 'https://hooks.example.net', events: ['video.source.recorded'] };
  known = {
    videoId,
    discarded,
    language: 'en',
    audioTrackId: '1',
    liveStreamId: (await made('/live-streams', { name: 'a' })).liveStreamId,
    uploadToken: (await made('/upload-tokens')).token,
    playerId: (await made('/players')).playerId,
    webhookId: (await made('/webhooks', hook)).webhookId,
    keyPairId: (await made('/account/api-keys')).keyPairId,
    signingKeyId: (await made('/account/signing-keys', { name: 'a' })).signingKeyId,
    passkeyId: (await addPasskey(server, cookie, admin)).passkeyId,
    summaryId: (await made('/summaries', { videoId })).summaryId,
    metric: 'play',
    aggregation: 'count',
    breakdown: 'country',
    code: 'invalid-attribute',
  };
});
afterAll(async () => {
  process.off('unhandledRejection', note).off('uncaughtException', note);
  asker.stop();
  await server.stop();
});

function logOfFailures(): NonNullable<Parameters<typeof startApi>[0]>['log'] & object {
  const log = {
    debug() {},
    info() {},
    warn: (...line: unknown[]) => void logged.push(line),
    error: (...line: unknown[]) => void logged.push(line),
    child: () => log,
  };
  return log as never;
}

function pathOf(path: string, values: Readonly<Record<string, string>>): string {
  const isOfDiscarded = path.startsWith('/discarded');
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    isOfDiscarded && name === 'videoId' ? (values.discarded ?? 'never-was') : (values[name] ?? 'never-was'),
  );
  return filled === '/upload' && values === known ? `${filled}?token=${known.uploadToken}` : filled;
}

/** Existing ids, by the names of fields in bodies. */
function namedInBodies(): Record<string, string> {
  const { videoId = '', playerId = '' } = known;
  return { videoId, playerId, mid: videoId, video_id: videoId, apiKey: sandboxKey };
}

/** Describes the fault of an answer. */
function faultOf({ method }: BadRequest, { status, headers: answered, text }: HttpReply): string | undefined {
  if (status >= 500) return 'a fault of ours';
  if (leak.test(text)) return 'it tells too much';
  if (status < 400 || method === 'HEAD') return undefined;
  if (text.length > 100_000) return 'it echoes too much';
  if (answered['content-type'] !== 'application/json') return `the type is ${answered['content-type']}`;
  try {
    const body = JSON.parse(text) as { status?: unknown; title?: unknown };
    return body.status === status && typeof body.title === 'string'
      ? undefined
      : 'not an error of the contract';
  } catch {
    return 'not JSON';
  }
}

async function expectOrder(requests: readonly BadRequest[]): Promise<Map<number, number>> {
  const wrong: string[] = [];
  const statuses = new Map<number, number>();
  await asker.inParallel(requests, async request => {
    const line = `${request.method} ${request.path.slice(0, 200)} (${request.why})`;
    try {
      const told = await asker.send(request);
      statuses.set(told.status, (statuses.get(told.status) ?? 0) + 1);
      const fault = faultOf(request, told);
      if (fault !== undefined) wrong.push(`${line}: ${fault}: ${told.status} ${told.text.slice(0, 300)}`);
    } catch (error) {
      wrong.push(`${line}: no answer: ${error}`);
    }
  });
  expect({ seed, wrong }).toEqual({ seed, wrong: [] });
  expect(unhandled).toEqual([]);
  expect(logged).toEqual([]);
  return statuses;
}

describe('every operation of the API document', () => {
  it('answers what is wrong with it in the form of all errors', { timeout: walkTimeoutMs }, async () => {
    const requests = operations.flatMap(entry => [
      ...badRequestsOf(entry, {
        there: pathOf(entry.path, known),
        nowhere: pathOf(entry.path, {}),
        path: entry.path,
        headers: headersOf(entry),
        ids: namedInBodies(),
      }),
    ]);
    const heapBefore = heapUsed();
    const statuses = await expectOrder(requests);
    expect(requests.length).toBeGreaterThan(5_000);
    expect(statuses.get(400)).toBeGreaterThan(2_000);
    requests.length = 0;
    expect(heapUsed() - heapBefore).toBeLessThan(60_000_000);
  });

  it('answers what nobody thought of, too', async () => {
    const random = seeded(seed);
    const requests = Array.from({ length: chances }, () => {
      const entry = operations[Math.floor(random() * operations.length)]!;
      const isKind = entry.method === 'GET' || entry.operation.requestBody !== undefined;
      const path = pathOf(entry.path, isKind ? known : {});
      return randomRequest(entry, { path, headers: headersOf(entry), ids: namedInBodies() }, random);
    });
    await expectOrder(requests);
  });

  it('has left nothing behind', async () => {
    await waitUntil(() => server.listener.openRequests === 0);
    // Writes the reports of players, which are written later.
    await server.api.analytics.tracker.flush();
    expect(logged).toEqual([]);
    for (const path of ['metrics/play/count', 'buckets/play/referrer', 'timeseries/play']) {
      expect([path, (await server.call('GET', `/data/${path}`)).status]).toEqual([path, 200]);
    }
    const filesOf = (folder: string) =>
      readdir(join(server.dataDir, folder), { recursive: true }).catch(() => []);
    expect(await filesOf('incoming')).toEqual([]);
    const idsIn = async (table: string) =>
      new Set((await rowsOf<{ id: string }>(server.database, `SELECT id FROM ${table}`)).map(({ id }) => id));
    const videos = await idsIn('videos');
    expect((await filesOf('vod')).filter(path => !videos.has(path.split('/')[0]!))).toEqual([]);
    const players = await idsIn('players');
    expect((await filesOf('player')).filter(path => !players.has(path.split('/')[0]!))).toEqual([]);
    expect((await server.call('GET', `/videos/${known.videoId}`)).status).toBe(200);
    const tables = await rowsByTable(server.database, name => !name.includes('_fts'));
    const endedTexts = Object.entries(tables).flatMap(([table, rows]) =>
      rows
        .flatMap(row => Object.entries(row))
        .filter(([, value]) => typeof value === 'string' && /\0|\\u0000/.test(value))
        .map(([column]) => `${table}.${column}`),
    );
    expect([...new Set(endedTexts)]).toEqual([]);
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
  });
});

/** Measures the heap after garbage collection. */
function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
