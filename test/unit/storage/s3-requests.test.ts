import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/shared/logger.ts';
import { S3Fault, type S3FaultKind } from '../../../src/storage/s3/s3-fault.ts';
import { S3Requests } from '../../../src/storage/s3/s3-requests.ts';

const outcomes: string[] = [];
let requests: S3Requests;

beforeEach(() => {
  // Retries wait by `timers/promises`, which stay real.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  outcomes.length = 0;
  requests = new S3Requests({
    observer: {
      onRequest: (operation, outcome) => outcomes.push(`${operation} ${outcome}`),
      onBytes: () => {},
      onCacheRead: () => {},
    },
    log: silentLogger,
  });
});
afterEach(() => {
  vi.useRealTimers();
});

function failing(kind: S3FaultKind) {
  return async () => {
    throw new S3Fault(kind, kind);
  };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

it('ends an attempt without an answer, and gives up when its time is over', async () => {
  const answer = requests.run('get', untilAborted).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(19_999);
  expect(outcomes).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);

  expect(await answer).toMatchObject({ code: 'storage-unavailable' });
  expect(outcomes).toEqual(['get timeout']);
});

it('waits for an answer that arrives slowly, and repeats it when it ends early', async () => {
  let attempts = 0;
  const answer = requests.run('get', async (signal, onProgress) => {
    attempts += 1;
    for (let step = 0; step < 8; step += 1) {
      await new Promise(resolve => setTimeout(resolve, 15_000));
      signal.throwIfAborted();
      onProgress();
    }
    if (attempts === 1) throw new S3Fault('network', 'cut');
    return 'done';
  });
  let isSettled = false;
  void answer.finally(() => {
    isSettled = true;
  });
  while (!isSettled) {
    await vi.advanceTimersByTimeAsync(15_000);
    await new Promise(resolve => setImmediate(resolve));
  }

  expect(await answer).toBe('done');
  expect(outcomes).toEqual(['get network', 'get ok']);
});

it.each<[kind: S3FaultKind, repeats: boolean, code: string]>([
  ['busy', true, 'storage-unavailable'],
  ['server', true, 'storage-unavailable'],
  ['network', true, 'storage-unavailable'],
  ['denied', false, 'storage-unavailable'],
  ['bucket', false, 'storage-unavailable'],
  ['full', false, 'disk-full'],
])('answers a request that is %s', async (kind, repeats, code) => {
  const answer = requests.run('head', failing(kind)).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(60_000);

  expect(await answer).toMatchObject({ code });
  expect(outcomes.length > 1).toBe(repeats);
  expect(outcomes.length).toBeLessThanOrEqual(50);
});

it.each<S3FaultKind>(['missing', 'changed', 'range'])(
  'leaves it to the caller that an object is %s',
  async kind => {
    await expect(requests.run('head', failing(kind))).rejects.toMatchObject({ name: 'S3Fault', kind });
  },
);

it('ends with the reason of a signal, and when the storage is closed', async () => {
  const reason = new Error('enough');
  const abort = new AbortController();
  const aborted = requests.run('put', untilAborted, abort.signal).catch((error: unknown) => error);
  const waiting = requests.run('head', failing('busy')).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(1_000);
  abort.abort(reason);
  expect(await aborted).toBe(reason);
  requests.stop();
  expect(await waiting).toMatchObject({ code: 'stopped' });
});
