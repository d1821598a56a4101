import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PullError, type PullInput } from '../../../../src/ingest/pull/pull-input.ts';
import {
  type PullSource,
  type PullStatus,
  PullSupervisor,
  type PullSupervisorOptions,
} from '../../../../src/ingest/pull/pull-supervisor.ts';
import { systemClock } from '../../../../src/shared/clock.ts';
import { silentLogger } from '../../../../src/shared/logger.ts';

const source = (number: number, projectId = 'project'): PullSource => ({
  liveStreamId: `li${number}`,
  projectId,
  streamKey: `key${number}`,
  url: `rtsp://camera${number}.example.org/`,
});

function start(sources: PullSource[], options: Partial<PullSupervisorOptions> = {}) {
  const opened: string[] = [];
  const stopped: string[] = [];
  const statuses = new Map<string, PullStatus>();
  let changed = () => {};
  const supervisor = new PullSupervisor({
    list: async () => [...sources],
    listNodes: async () => ['one'],
    nodeId: () => 'one',
    report: async (liveStreamId, status) => void statuses.set(liveStreamId, status),
    onChange: listener => {
      changed = listener;
      return () => {};
    },
    open: async ({ url }) => {
      opened.push(url);
      const { promise: ended, resolve } = Promise.withResolvers<string>();
      const input: PullInput = {
        ended,
        remoteAddress: '',
        pause: () => {},
        resume: () => {},
        stop: async () => {
          stopped.push(url);
          resolve('');
        },
      };
      return input;
    },
    gate: { request: () => expect.unreachable() },
    maxSources: 10,
    maxSourcesPerProject: 10,
    onBytes: () => {},
    clock: systemClock,
    log: silentLogger,
    ...options,
  });
  void supervisor.start();
  return { supervisor, opened, stopped, statuses, sources, changed: () => changed() };
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn();
}

afterEach(() => void vi.useRealTimers());

describe('PullSupervisor', () => {
  it('pulls what is turned on, follows changes, and ends with the server', async () => {
    const { supervisor, opened, stopped, sources, changed } = start([source(1), source(2)]);
    await settle();
    expect(opened).toEqual([source(1).url, source(2).url]);
    sources.splice(0, 1, { ...source(1), url: 'rtsp://other.example.org/' });
    changed();
    await settle();
    expect(stopped).toEqual([source(1).url]);
    expect(opened.at(-1)).toBe('rtsp://other.example.org/');
    sources.splice(0, 2);
    changed();
    await settle();
    expect(stopped).toHaveLength(3);
    await supervisor.stop();
    expect(opened).toHaveLength(3);
  });

  it('tells why sources over a limit wait', async () => {
    const { supervisor, opened, statuses } = start(
      [source(1, 'a'), source(2, 'a'), source(3, 'b'), source(4, 'c')],
      { maxSources: 2, maxSourcesPerProject: 1 },
    );
    await settle();
    expect(opened).toEqual([source(1).url, source(3).url]);
    const advice = 'which is the limit. Turn another one off first.';
    expect(statuses.get('li2')).toEqual({
      state: 'retrying',
      reason: `This server already pulls 1 source of this project, ${advice}`,
    });
    expect(statuses.get('li4')?.reason).toBe(`This server already pulls 2 sources, ${advice}`);
    await supervisor.stop();
    const none = start([source(1)], { maxSources: 0 });
    await settle();
    expect(none.statuses.get('li1')?.reason).toMatch(/^Pulling sources is turned off on this server\./);
    await none.supervisor.stop();
  });

  it('tells when another limit is the reason', async () => {
    const { supervisor, statuses, sources, changed } = start([source(1, 'a'), source(2, 'a')], {
      maxSources: 1,
      maxSourcesPerProject: 1,
    });
    await settle();
    expect(statuses.get('li2')?.reason).toContain('1 source of this project');
    sources.splice(0, 1, source(3, 'b'));
    changed();
    await settle();
    expect(statuses.get('li2')?.reason).toContain('already pulls 1 source,');
    await supervisor.stop();
  });

  it('shares the sources among the servers, each with one of them', async () => {
    const sources = Array.from({ length: 40 }, (_, index) => source(index));
    const nodes = ['one', 'two', 'three'];
    const pulled = await Promise.all(
      nodes.map(async node => {
        const { supervisor, opened } = start(sources, {
          listNodes: async () => nodes,
          nodeId: () => node,
          maxSources: 100,
          maxSourcesPerProject: 100,
        });
        await settle();
        await supervisor.stop();
        return opened;
      }),
    );
    expect(pulled.flat().toSorted()).toEqual(sources.map(({ url }) => url).toSorted());
    for (const some of pulled) expect(some.length).toBeGreaterThan(5);
  });

  it('takes over the sources of a server that is gone, also without being told', async () => {
    vi.useFakeTimers();
    const sources = Array.from({ length: 10 }, (_, index) => source(index));
    let nodes = ['one', 'two'];
    const { supervisor, opened } = start(sources, { listNodes: async () => nodes });
    await vi.advanceTimersByTimeAsync(0);
    const own = opened.length;
    expect(own).toBeLessThan(10);
    nodes = ['one'];
    // Attempts are repeated meanwhile, since nothing is sent here.
    await vi.advanceTimersByTimeAsync(31_000);
    expect(new Set(opened).size).toBe(10);
    await supervisor.stop();
  });

  it('tells when it tries again, and ends while it waits', async () => {
    const clock = { ...systemClock, nowMs: () => 1_000_000 };
    const open = () => Promise.reject(new PullError('It is off.'));
    const { supervisor, statuses } = start([source(1)], { open, clock });
    await settle();
    expect(statuses.get('li1')).toMatchObject({ state: 'retrying', reason: 'It is off.' });
    const delayMs = statuses.get('li1')!.nextAttemptAtMs! - 1_000_000;
    expect(delayMs).toBeGreaterThanOrEqual(750);
    expect(delayMs).toBeLessThanOrEqual(1_000);
    await supervisor.stop();
  });
});
