import { afterEach, beforeEach, expect, test, vi } from 'vitest';

type ServerReturn = typeof import('../../../../../src/web/dashboard/api/server-return.ts');

let server: ServerReturn;

beforeEach(async () => {
  vi.resetModules();
  vi.useFakeTimers();
  server = await import('../../../../../src/web/dashboard/api/server-return.ts');
});
afterEach(() => vi.useRealTimers());

/** Loads again and again what the server answers with `status`. Others answer 200 beside it. Returns the number of tries. */
function load(status: () => number): { readonly tries: number } {
  const counted = { tries: 0 };
  const start = () => {
    counted.tries += 1;
    setTimeout(() => {
      const answer = status();
      server.noteAnswer(answer);
      if (answer === 503) server.whenServerReturns(start);
    }, 5);
    // Asked for with it, and after it.
    for (const delayMs of [2, 10, 15])
      setTimeout(() => server.noteAnswer(status() === 503 ? 200 : 0), delayMs);
  };
  start();
  return counted;
}

test('one request that keeps failing is not repeated at once whenever another succeeds', async () => {
  const loading = load(() => 503);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(loading.tries).toBeGreaterThan(4);
  expect(loading.tries).toBeLessThan(12);
});

test('all that wait are repeated when the server is back, also a second time', async () => {
  for (let outage = 0; outage < 2; outage += 1) {
    server.noteAnswer(0);
    const retries = [vi.fn(), vi.fn(), vi.fn()];
    for (const retry of retries) server.whenServerReturns(retry);
    await vi.advanceTimersByTimeAsync(500);
    server.noteAnswer(200);
    if (outage > 0) await vi.advanceTimersByTimeAsync(20_000);
    for (const retry of retries) expect(retry).toHaveBeenCalledOnce();
  }
});

test('while the server is away, one of those that wait tries it, ever more rarely', async () => {
  let tries = 0;
  const wait = (): void => {
    server.whenServerReturns(() => {
      tries += 1;
      server.noteAnswer(0);
      wait();
    });
  };
  server.noteAnswer(0);
  for (let count = 0; count < 5; count += 1) wait();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(tries).toBeGreaterThan(3);
  expect(tries).toBeLessThan(10);
});
