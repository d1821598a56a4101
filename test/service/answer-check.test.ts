import { describe, expect, test } from 'vitest';
import { AnswerCheck, type SeenAnswer } from '../support/answers/answer-check.ts';

const check = new AnswerCheck(process.env.MILLRACE_TEST_ANSWER_RULES ?? '');
const headers: Readonly<Record<string, string>> = {
  'x-request-id': 'a-1',
  'x-ratelimit-limit': '10',
  'x-ratelimit-remaining': '9',
  'x-ratelimit-retry-after': '60',
  'content-type': 'application/json',
};
const token = { token: 'to3Hg6FdSa1Po8IuYt4ReWqZ', ttl: 0, createdAt: '2026-03-04T05:06:07+00:00' };

function problemsOf(
  answer: Partial<Pick<SeenAnswer, 'method' | 'path' | 'status'>> & {
    headers?: Record<string, string | null>;
    body?: unknown;
  },
): readonly string[] {
  const all: Record<string, string | null> = { ...headers, ...answer.headers };
  const { body = token } = answer;
  return check.judge(
    {
      method: answer.method ?? 'GET',
      path: answer.path ?? '/upload-tokens/to3Hg6FdSa1Po8IuYt4ReWqZ',
      status: answer.status ?? 200,
      header: name => all[name] ?? null,
      text: typeof body === 'string' ? body : JSON.stringify(body),
    },
    'api',
  ).problems;
}

describe('the check of answers', () => {
  test('takes what the document says', () => {
    expect(problemsOf({})).toEqual([]);
    const gone = { method: 'DELETE', status: 204, body: '', headers: { 'content-type': null } };
    expect(problemsOf(gone)).toEqual([]);
    expect(problemsOf({ path: '/nothing', status: 404, body: { title: 'No', status: 404 } })).toEqual([]);
  });

  test.each<[what: string, answer: Parameters<typeof problemsOf>[0], problem: string]>([
    ['another status', { status: 201 }, 'the status 201 is not in the document'],
    [
      'a path that is not described',
      { path: '/secret' },
      'the path is not in the document, and the status is 200',
    ],
    [
      'a content type with a parameter',
      { headers: { 'content-type': 'application/json; charset=utf-8' } },
      'the content type is application/json; charset=utf-8, not application/json',
    ],
    [
      'a content type of nothing',
      { method: 'DELETE', status: 204, body: '' },
      'an empty answer has the content type application/json',
    ],
    [
      'null in place of absence',
      { body: { ...token, expiresAt: null } },
      'the body at /expiresAt must be string',
    ],
    [
      'a field too many',
      { body: { ...token, rowid: 7 } },
      'the body at / must NOT have additional properties',
    ],
    [
      'a fraction in place of an integer',
      { body: { ...token, ttl: 0.5 } },
      'the body at /ttl must be integer',
    ],
    [
      'a time in another form',
      { body: { ...token, createdAt: '2026-03-04T05:06:07Z' } },
      'the body at /createdAt must match pattern',
    ],
    [
      'a rate limit that is no integer',
      { headers: { 'x-ratelimit-limit': 'Infinity' } },
      'x-ratelimit-limit is Infinity',
    ],
    [
      'an error that is not registered',
      { status: 404, body: { type: 'http://a/docs/errors/oops', title: 'Oops', status: 404 } },
      'no error is called oops',
    ],
    [
      'an error without how to authenticate',
      { status: 401, body: { title: 'No', status: 401 } },
      'the header www-authenticate is missing',
    ],
    [
      'an error with another status inside',
      { status: 404, body: { title: 'No', status: 400 } },
      'the body says 400',
    ],
  ])('refuses %s', (_what, answer, problem) => {
    expect(problemsOf(answer)).toEqual([expect.stringContaining(problem)]);
  });
});
