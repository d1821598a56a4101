import { describe, expect, it } from 'vitest';
import { failureFromError, failureFromStatus } from '../../../../src/live/restream/restream-failure.ts';
import { parseTarget } from '../../../../src/live/restream/restream-target.ts';

const target = parseTarget('rtmp://a.example/live')!;
const failed = (code: string, more: object = {}) =>
  Object.assign(new Error(`what ${code}`), { code, ...more });

describe('what failed at a destination', () => {
  it.each([
    ['ECONNREFUSED', 'connection-refused', false],
    ['ETIMEDOUT', 'timed-out', false],
    ['EHOSTUNREACH', 'unreachable', false],
    ['ENOTFOUND', 'name-not-found', false],
    ['ECONNRESET', 'closed', false],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls', true],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls', true],
    ['EMFILE', 'failed', false],
  ])('%s is told as %s', (code, reason, isLasting) => {
    expect(failureFromError(failed(code), target)).toMatchObject({ reason, isLasting });
  });

  it('is of the name when it was the name server that did not take the question', () => {
    const error = failed('ECONNREFUSED', { syscall: 'queryA', hostname: 'a.example' });
    expect(failureFromError(error, target).reason).toBe('name-not-found');
  });

  it.each([
    ['NetStream.Publish.BadName', true],
    ['NetConnection.Connect.Rejected', true],
    ['NetStream.Failed', false],
  ])('answered %s is a refusal', (code, isLasting) => {
    const failure = failureFromStatus({ code, description: 'No.' });
    expect(failure).toMatchObject({ reason: 'refused', isLasting });
    expect(failure.detail).toContain(`${code}: No.`);
  });
});
