import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { OutgoingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AcmeRenewal } from '../../../src/certificates/acme.store.ts';
import { certificateId } from '../../../src/certificates/certificate-id.ts';
import { askRenewalInformation, isQuestionDue } from '../../../src/certificates/renewal-information.ts';
import { type LogLine, recordingLogger } from '../../support/ingest-client.ts';
import { makeSelfSigned } from '../../support/self-signed.ts';
import { makeTempDir } from '../../support/temp-dir.ts';

const [minuteMs, hourMs] = [60_000, 3_600_000];
const { cert } = makeSelfSigned('a.example', { authorityKey: Buffer.from('key') });
const id = certificateId(cert)!;
const nowMs = Date.now();
const timeOf = (hours: number) => new Date(nowMs + hours * hourMs).toISOString();
const windowOf = (start: unknown, end: unknown) => JSON.stringify({ suggestedWindow: { start, end } });
const good = windowOf(timeOf(1), timeOf(2));

interface Answer {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body: string;
}

let answer: Answer = { body: '' };
let directory: unknown = {};
const asked: string[] = [];
const tls = makeSelfSigned('localhost');
const authority = createServer(tls, (request, response) => {
  asked.push(request.url!);
  const isDirectory = request.url === '/dir';
  const { status = 200, headers = {}, body } = isDirectory ? { body: JSON.stringify(directory) } : answer;
  if (request.headers['user-agent'] === undefined) response.writeHead(400).end();
  else response.writeHead(status, headers).end(body);
});
let base = '';
let caFile = '';

beforeAll(async () => {
  caFile = join(await makeTempDir(), 'ca.pem');
  await writeFile(caFile, tls.cert);
  authority.listen(0, '127.0.0.1');
  await once(authority, 'listening');
  base = `https://localhost:${(authority.address() as AddressInfo).port}`;
});
afterAll(() => void authority.close());

async function ask(
  next: Answer,
  options: { previous?: AcmeRenewal; renewalInfo?: unknown; at?: string; obtainedAtMs?: number } = {},
) {
  const { previous, renewalInfo = `${base}/renewal/`, at = `${base}/dir`, obtainedAtMs } = options;
  answer = next;
  directory = { newOrder: `${base}/order`, renewalInfo };
  asked.length = 0;
  const lines: LogLine[] = [];
  const { signal } = new AbortController();
  const question = { directory: at, caFile, cert, obtainedAtMs, previous };
  const renewal = await askRenewalInformation(question, { nowMs, log: recordingLogger(lines), signal });
  return { renewal, lines, pauseMs: renewal.askAtMs - nowMs };
}

test('a window is asked for by the id of the certificate, and a time in it is chosen once', async () => {
  const explanation = 'https://authority.example/incident';
  const body = JSON.stringify({ ...JSON.parse(good), explanationURL: explanation });
  const { renewal, lines, pauseMs } = await ask({ body, headers: { 'Retry-After': '7200' } });
  expect(asked).toEqual(['/dir', `/renewal/${id}`]);
  expect(pauseMs).toBe(2 * hourMs);
  expect(renewal.renewAtMs).toBeGreaterThanOrEqual(nowMs + hourMs);
  expect(renewal.renewAtMs).toBeLessThanOrEqual(nowMs + 2 * hourMs);
  expect(lines).toMatchObject([{ event: 'renewal-suggested', data: { explanation } }]);
  const again = await ask({ body }, { previous: renewal });
  expect(again.renewal).toEqual({ ...renewal, askAtMs: nowMs + 6 * hourMs });
  expect(again.lines).toEqual([]);
  const moved = await ask({ body: windowOf(timeOf(3), timeOf(4)) }, { previous: renewal });
  expect(moved.renewal.renewAtMs).toBeGreaterThanOrEqual(nowMs + 3 * hourMs);
});

test.each([
  ['0', minuteMs],
  ['59', minuteMs],
  ['9999999999', 24 * hourMs],
  ['soon', 6 * hourMs],
  [new Date(0).toUTCString(), minuteMs],
])('the pause until the next request is bounded: %s', async (header, pauseMs) => {
  expect(await ask({ body: good, headers: { 'Retry-After': header } })).toMatchObject({ pauseMs });
});

test('a window that has passed does not renew a certificate that was just obtained', async () => {
  const body = windowOf(timeOf(-2), timeOf(-1));
  expect((await ask({ body })).renewal.renewAtMs).toBeLessThan(nowMs);
  const { renewal } = await ask({ body }, { obtainedAtMs: nowMs });
  expect(renewal.renewAtMs).toBeGreaterThan(nowMs + 4 * hourMs);
  const fromFuture = await ask({ body }, { obtainedAtMs: nowMs + 1 });
  expect(fromFuture.renewal.renewAtMs).toBeLessThan(nowMs);
});

test('an address of slashes without end is asked like any other', async () => {
  const renewalInfo = `${base}${'/'.repeat(200_000)}.`;
  const { renewal, lines } = await ask({ body: good }, { renewalInfo });
  expect(renewal.window).toBeUndefined();
  expect(lines).toMatchObject([{ event: 'renewal-suggestion-ignored' }]);
});

test.each<[string, Answer]>([
  ['years ago', { body: windowOf('2001-01-01T00:00:00Z', '2001-01-02T00:00:00Z') }],
  ['after the end', { body: windowOf(timeOf(100), timeOf(101)) }],
  ['upside down', { body: windowOf(timeOf(2), timeOf(1)) }],
  ['dates of no kind', { body: windowOf('tomorrow', '2026-13-45T99:00:00Z') }],
  ['numbers', { body: windowOf(1, 2) }],
  ['null', { body: 'null' }],
  ['a window that is a list', { body: '{"suggestedWindow":[]}' }],
  ['a page', { body: '<html>' }],
  ['not found', { status: 404, body: '' }],
  ['a redirect', { status: 302, headers: { Location: 'https://127.0.0.1:1/' }, body: '' }],
])('a wrong answer leaves the time to the server: %s', async (_, next) => {
  const previous = { certificateId: id, window: { startMs: 1, endMs: 2 }, renewAtMs: 5, askAtMs: 0 };
  const { renewal, lines, pauseMs } = await ask(next, { previous });
  expect(renewal).toEqual({ certificateId: id, askAtMs: renewal.askAtMs });
  expect(pauseMs).toBe(6 * hourMs);
  expect(lines).toMatchObject([{ event: 'renewal-suggestion-ignored' }]);
});

test.each<[string, Answer, string?]>([
  ['an error', { status: 503, body: '' }],
  ['too much', { body: `{"a":"${'x'.repeat(1_000_000)}"}` }],
  ['nobody', { body: '' }, 'https://127.0.0.1:1/dir'],
])('the last suggestion holds without an answer: %s', async (_, next, at) => {
  const previous = { certificateId: id, window: { startMs: 1, endMs: 2 }, renewAtMs: 5, askAtMs: 0 };
  const options = at === undefined ? {} : { at };
  expect((await ask(next, { previous, ...options })).renewal).toEqual({
    ...previous,
    askAtMs: nowMs + hourMs,
  });
  const other = { ...previous, certificateId: 'other' };
  const unsuggested = { certificateId: id, askAtMs: nowMs + hourMs };
  expect((await ask(next, { previous: other, ...options })).renewal).toEqual(unsuggested);
});

test('an authority without renewal information is asked again later, and plain HTTP never', async () => {
  const missing = await ask({ body: good }, { renewalInfo: null });
  expect(missing).toMatchObject({ renewal: { certificateId: id }, pauseMs: 6 * hourMs });
  const plain = await ask({ body: good }, { renewalInfo: 'http://127.0.0.1:1/' });
  expect(plain.renewal.window).toBeUndefined();
  expect(asked).toEqual(['/dir']);
});

test('a question is due for a new certificate, at its time, and after a clock that was wrong', () => {
  const previous = { certificateId: id, askAtMs: nowMs + hourMs };
  expect(isQuestionDue(undefined, cert, nowMs)).toBe(true);
  expect(isQuestionDue({ ...previous, certificateId: 'other' }, cert, nowMs)).toBe(true);
  expect(isQuestionDue(previous, cert, nowMs)).toBe(false);
  expect(isQuestionDue(previous, cert, nowMs + hourMs)).toBe(true);
  expect(isQuestionDue(previous, cert, nowMs - 30 * hourMs)).toBe(true);
  expect(isQuestionDue(undefined, makeSelfSigned('a.example').cert, nowMs)).toBe(false);
});
