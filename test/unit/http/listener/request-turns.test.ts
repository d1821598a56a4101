import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RequestTurns } from '../../../../src/http/listener/request-turns.ts';

const perAddress = { maxPerAddress: 1_000, isExempt: (address: string) => address === '192.0.2.1' };

describe('requests that can wait', () => {
  it('are served in order, sixteen in each turn of the event loop', async () => {
    const turns = new RequestTurns(perAddress);
    const served: number[] = [];
    const take = (number: number) => turns.take(new EventEmitter(), '192.0.2.1', () => served.push(number));
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
    const responses = Array.from({ length: 4_000 }, () => new EventEmitter());
    let served = 0;
    const take = (response = new EventEmitter()) => turns.take(response, '192.0.2.1', () => (served += 1));
    for (const response of responses) expect(take(response)).toBe(true);
    expect(take()).toBe(false);
    while (served < responses.length) await nextTurn();
    expect(take()).toBe(false);
    responses[0]!.emit('close');
    expect([take(), take()]).toEqual([true, false]);
  });

  it('are refused to a network that keeps a thousand open, and served to others', () => {
    const turns = new RequestTurns(perAddress);
    const responses = Array.from({ length: 1_000 }, () => new EventEmitter());
    const take = (address: string, response = new EventEmitter()) => turns.take(response, address, () => {});
    for (const [index, response] of responses.entries())
      expect(take(`2001:db8::${index.toString(16)}`, response)).toBe(true);
    expect([take('2001:db8::ffff:1'), take('2001:db8:0:1::1'), take('192.0.2.1')]).toEqual([
      false,
      true,
      true,
    ]);
    responses[0]!.emit('close');
    expect([take('2001:db8::1'), take('2001:db8::1')]).toEqual([true, false]);
  });
});
