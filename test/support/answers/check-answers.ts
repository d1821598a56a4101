/**
 * Holds every answer that a test gets from one of our servers against the API document. What does not fit fails the test that
 * asked. With `MILLRACE_TEST_ANSWERS_SEEN`, a folder, each test file leaves there which operations it saw answered how.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { join, relative } from 'node:path';
import { afterAll, afterEach, expect } from 'vitest';
import { projectRoot } from '../../../scripts/project-files.ts';
import { withoutBasePath } from '../../../src/shared/network/base-path.ts';
import { AnswerCheck, type SeenAnswer } from './answer-check.ts';

const seen = new Set<string>();
const problems: string[] = [];
let check: AnswerCheck | undefined;

/** Notes an answer. With `MILLRACE_TEST_BASE_PATH`, paths may have that base path. */
function note({ path: asked, ...more }: SeenAnswer): void {
  const answer = { ...more, path: withoutBasePath(asked, process.env.MILLRACE_TEST_BASE_PATH ?? '') };
  const origin = AnswerCheck.originOf(answer.header);
  if (origin === undefined) return;
  check ??= new AnswerCheck(process.env.MILLRACE_TEST_ANSWER_RULES ?? '');
  const verdict = check.judge(answer, origin);
  if (verdict.operation !== undefined) seen.add(verdict.operation);
  for (const problem of verdict.problems) {
    problems.push(`${answer.method} ${answer.path} -> ${answer.status}: ${problem}`);
  }
}

const realFetch = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const response = await realFetch(input, init);
  const header = (name: string) => response.headers.get(name);
  const origin = AnswerCheck.originOf(header);
  if (origin === undefined) return response;
  const request = input instanceof Request ? input : undefined;
  const isText = origin === 'api' && !(header('content-type') ?? '').startsWith('text/plain;');
  let text: string | undefined;
  try {
    text = isText ? await response.clone().text() : undefined;
  } catch {
    // Whoever asked sees it break too.
  }
  note({
    method: (init?.method ?? request?.method ?? 'GET').toUpperCase(),
    path: new URL(request?.url ?? String(input)).pathname,
    status: response.status,
    header,
    text,
  });
  return response;
};

/** Notes the heads of answers to clients other than `fetch`. */
function noteHead(message: unknown): void {
  const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
  const { method, path } = request;
  if (path.startsWith('http')) return;
  note({
    method,
    path: path.split('?')[0] ?? '/',
    status: response.statusCode ?? 0,
    header: name => {
      const value = response.headers[name];
      return value === undefined ? null : String(value);
    },
    text: undefined,
  });
}
subscribe('http.client.response.finish', noteHead);

function failWithProblems(): void {
  const told = problems.splice(0);
  if (told.length === 0) return;
  throw new Error(`Answers are not as the API document says:\n${[...new Set(told)].join('\n')}`);
}

afterEach(failWithProblems);

afterAll(() => {
  // The next test file may run in the same process.
  globalThis.fetch = realFetch;
  unsubscribe('http.client.response.finish', noteHead);
  const folder = process.env.MILLRACE_TEST_ANSWERS_SEEN;
  if (folder !== undefined && seen.size > 0) {
    const file = relative(projectRoot, expect.getState().testPath ?? '');
    mkdirSync(folder, { recursive: true });
    const record = { file, seen: [...seen].sort() };
    writeFileSync(join(folder, `${file.replaceAll('/', '-')}.json`), JSON.stringify(record));
  }
  failWithProblems();
});
