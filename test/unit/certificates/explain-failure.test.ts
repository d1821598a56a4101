import { describe, expect, test } from 'vitest';
import { AcmeProblem, retryTimeOf } from '../../../src/certificates/acme-client.ts';
import { AcmeUnreachable } from '../../../src/certificates/acme-transport.ts';
import { ChallengeFailure, OrderUnfinished } from '../../../src/certificates/complete-order.ts';
import { describeCertificate } from '../../../src/certificates/describe-certificate.ts';
import { explainFailure } from '../../../src/certificates/explain-failure.ts';

const facts = {
  directory: 'https://ca.example/dir',
  domains: ['video.example.org'],
  httpPort: 8080,
  httpsPort: 8443,
  domainAddresses: ['203.0.113.9'],
  ownAddresses: ['198.51.100.4', '2001:db8::4'],
};
const problem = (type: string, detail = 'so it is') => ({
  type: `urn:ietf:params:acme:error:${type}`,
  detail,
});
const challenge = (type: string, challengeType: 'http-01' | 'tls-alpn-01' = 'http-01') =>
  new ChallengeFailure(problem(type), { domain: 'video.example.org', type: challengeType });
const refused = Object.assign(new Error('connect ECONNREFUSED 192.0.2.1:443'), { code: 'ECONNREFUSED' });
const untrusted = Object.assign(new Error('self-signed certificate'), {
  code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
});

describe('the reason why there is no certificate', () => {
  test.each<[what: string, error: unknown, texts: string[]]>([
    [
      'the name has no address',
      challenge('dns'),
      ['found no address of video.example.org in DNS. Add an A or AAAA record'],
    ],
    [
      'the name leads elsewhere',
      challenge('unauthorized'),
      [
        'Something other than this server answered on port 80 of video.example.org.',
        "video.example.org leads to 203.0.113.9; this server's own addresses are 198.51.100.4, 2001:db8::4",
      ],
    ],
    ['port 80 is closed', challenge('connection'), ['could not connect to port 80', 'the HTTP port 8080']],
    ['port 443 is closed', challenge('connection', 'tls-alpn-01'), ['port 443', 'the HTTPS port 8443']],
    ['CAA', challenge('caa'), ['A CAA record of video.example.org']],
    [
      'a limit',
      new AcmeProblem(problem('rateLimited'), { status: 429 }),
      ['has had too many requests', 'so it is'],
    ],
    ['an overloaded proxy', new AcmeProblem({}, { status: 429 }), ['has had too many requests']],
    ['a crash', new AcmeProblem({}, { status: 503 }), ['ca.example is down or overloaded']],
    ['a wrong path', new AcmeProblem({}, { status: 404 }), ['Check tls.acmeDirectory']],
    [
      'a refused name',
      new AcmeProblem(problem('rejectedIdentifier'), { status: 400 }),
      ['Correct tls.domains'],
    ],
    ['a refused address', new AcmeProblem(problem('invalidContact'), { status: 400 }), ['Correct tls.email']],
    [
      'registration',
      new AcmeProblem(problem('externalAccountRequired'), { status: 403 }),
      ['Set tls.acmeKeyId and tls.acmeMacKey'],
    ],
    ['it is down', new AcmeUnreachable(refused), ['ca.example cannot be reached (connect ECONNREFUSED']],
    ['it is not trusted', new AcmeUnreachable(untrusted), ['set tls.acmeCa']],
    ['it takes its time', new OrderUnfinished(''), ['has not finished the order yet']],
    ['it answers nonsense', new TypeError('x is not iterable'), ['does not understand (x is not iterable)']],
  ])('%s', (_, error, texts) => {
    const text = explainFailure(error, facts);
    for (const expected of texts) expect(text).toContain(expected);
  });

  test.each([
    null,
    7,
    'text',
    [],
    { detail: {} },
    { detail: `a\nb\u0000${'x'.repeat(10_000)}`, subproblems: [null, 7] },
  ])('bounds what the authority says: %j', body => {
    const text = explainFailure(new AcmeProblem(body, { status: 400 }), facts);
    expect(text.length).toBeLessThan(900);
    expect(text).not.toMatch(/[\p{Cc}]/u);
  });
});

test.each([
  ['120', 121_000],
  ['Thu, 01 Jan 1970 00:01:00 GMT', 60_000],
  ['-5', undefined],
  ['99999999999999999999', undefined],
  [undefined, undefined],
  [['1'], undefined],
])('Retry-After %j is the time %s', (header, atMs) => {
  expect(retryTimeOf(header, 1_000)).toBe(atMs);
});

test.each([
  [undefined, 'missing', 'There is no certificate for a.example yet'],
  [{ expiresAtMs: 2_000, renewAtMs: 0 }, 'valid', 'The current one is valid until 1970-01-01 00:00 UTC.'],
  [{ expiresAtMs: 500, renewAtMs: 0 }, 'expired', 'expired at 1970-01-01 00:00 UTC'],
])('tells what a failure means with a certificate of %j', (times, state, text) => {
  const failure = {
    settings: '',
    attempts: 1,
    challengeAttempts: 0,
    failedAtMs: 0,
    askedUntilMs: 0,
    earlyAttempts: 0,
    addresses: '',
    retryAtMs: 86_400_000,
    problem: 'It is so. Do this.',
  };
  const view = describeCertificate({ failure }, times, { domains: ['a.example'], nowMs: 1_000 });
  expect(view.state).toBe(state);
  expect(view.problem).toContain(text);
  expect(view.problem).toContain('It is so. Do this. The server tries again at 1970-01-02 00:00 UTC.');
  expect(view.failure).toEqual({
    reason: 'It is so. Do this.',
    uncoveredDomains: [],
    retryAtMs: 86_400_000,
  });
  const well = describeCertificate({}, times, { domains: [], nowMs: 1_000 });
  expect([well.problem, well.failure]).toEqual([undefined, undefined]);
});
