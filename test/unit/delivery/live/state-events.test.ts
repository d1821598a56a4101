import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { LiveSource } from '../../../../src/delivery/live/live-source.ts';
import { StateEvents } from '../../../../src/delivery/live/state-events.ts';
import type { ViewerReply } from '../../../../src/delivery/responses/exchange.ts';

/** The broadcasts that a client is told of, in order. */
function toldBroadcasts(texts: readonly string[]): string[] {
  return texts.map(text => /"broadcastId":"?(\w+)/.exec(text)![1]!);
}

it('sends the newest state last, however long the checks of access take', async () => {
  let state: ReturnType<LiveSource['state']> = { live: false };
  let tell = () => {};
  const live = {
    state: () => state,
    onStateChange: (_id, listener) => {
      tell = listener;
      return () => {};
    },
  } as Partial<LiveSource> as LiveSource;
  const events = new StateEvents({
    live,
    observer: { bytesOut() {}, viewerDropped() {}, request() {} },
    maxClients: 10,
    maxClientsPerStream: 10,
    heartbeatMs: 60_000,
  });
  const checks: (() => void)[] = [];
  const clientOf = (mayHear: () => Promise<boolean>) => {
    const texts: string[] = [];
    const reply = {
      writableEnded: false,
      destroyed: false,
      writableLength: 0,
      write: (text: string) => texts.push(text),
      end() {},
      once() {},
    } as unknown as ViewerReply;
    events.reserve('li1', reply)!(mayHear);
    return texts;
  };
  const slow = clientOf(() => new Promise(resolve => checks.push(() => resolve(true))));
  const quick = clientOf(async () => true);
  const change = (broadcastId: string) => {
    state = { live: true, broadcastId };
    tell();
  };
  change('b1');
  change('b2');
  const late = clientOf(async () => true);
  while (checks.length > 0) {
    for (const allow of checks.splice(0)) allow();
    await nextTurn();
  }
  expect(toldBroadcasts(slow)).toEqual(['null', 'b1', 'b2']);
  expect(toldBroadcasts(quick)).toEqual(['null', 'b1', 'b2']);
  expect(toldBroadcasts(late).at(-1)).toBe('b2');
  events.stop();
});
