import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RequestTurns } from '../../../../src/http/listener/request-turns.ts';

const perAddress = { maxPerAddress: 1_000, isExempt: (address: string) => address === '192.0.2.1' };

/** A request that waits until it is told to end. */
function pendingRequest(isComplete = true) {
  const served = Promise.withResolvers<void>();
  const request = { complete: isComplete, isEnded: false, destroy: () => (request.isEnded = true) };
  return { request, serve: () => served.promise, end: served.resolve };
}

describe('requests that can wait', () => {
  it('are served in order, sixteen in each turn of the event loop', async () => {
    const turns = new RequestTurns(perAddress);
    const served: number[] = [];
    const take = (number: number) =>
      turns.take(pendingRequest().request, '192.0.2.1', () => served.push(number));
    for (let number = 0; number < 40; number += 1) take(number);
    expect(served).toHaveLength(16);
    await nextTurn();
    expect(served).toHaveLength(32);
    take(40);
    expect(served).toHaveLength(32);
    await nextTurn();
    expect(served).toEqual(Array.from({ length: 41 }, (_, number) => number));
    take(41);
    expect(served).toHaveLength(42);
  });

  it('are refused while four thousand are open', async () => {
    const turns = new RequestTurns(perAddress);
    const open = Array.from({ length: 4_000 }, () => pendingRequest());
    const take = ({ request, serve } = pendingRequest()) => turns.take(request, '192.0.2.1', serve);
    for (const one of open) expect(take(one)).toBe(true);
    expect(take()).toBe(false);
    for (let turn = 0; turn < 4_000 / 16; turn += 1) await nextTurn();
    expect(take()).toBe(false);
    open[1]!.end();
    await nextTurn();
    expect([take(), take()]).toEqual([true, false]);
    expect(open.some(({ request }) => request.isEnded)).toBe(false);
  });

  it('replace the oldest ones whose bodies have not arrived while four thousand are open', () => {
    const turns = new RequestTurns(perAddress);
    const slow = Array.from({ length: 4_000 }, () => pendingRequest(false));
    const take = ({ request, serve } = pendingRequest()) => turns.take(request, '192.0.2.1', serve);
    for (const one of slow) take(one);
    for (let count = 0; count < 3_999; count += 1) expect(take()).toBe(true);
    expect(slow.map(({ request }) => request.isEnded)).toEqual(slow.map((_, index) => index < 3_999));
    slow[3_999]!.request.complete = true;
    expect(take()).toBe(false);
  });

  it('are refused to a network that keeps a thousand open, and served to others', async () => {
    const turns = new RequestTurns(perAddress);
    const open = Array.from({ length: 1_000 }, () => pendingRequest());
    const take = (address: string, { request, serve } = pendingRequest()) =>
      turns.take(request, address, serve);
    for (const [index, one] of open.entries())
      expect(take(`2001:db8::${index.toString(16)}`, one)).toBe(true);
    expect([take('2001:db8::ffff:1'), take('2001:db8:0:1::1'), take('192.0.2.1')]).toEqual([
      false,
      true,
      true,
    ]);
    open[0]!.end();
    await nextTurn();
    expect([take('2001:db8::1'), take('2001:db8::1')]).toEqual([true, false]);
  });
});
