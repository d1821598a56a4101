import { describe, expect, it } from 'vitest';
import { LeaderLeases } from '../../../src/cluster/leader-leases.ts';
import type { NodeRun } from '../../../src/cluster/node.store.ts';
import { silentLogger } from '../../../src/shared/logger.ts';
import { LocalSignals } from '../../../src/store/signals.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

/** The rows of all nodes, and which of the nodes have a lease. */
class Table {
  readonly signals = new LocalSignals();
  readonly holders = new Map<string, NodeRun>();
  readonly alive = new Set<string>();
  /** Runs before a row is handed over. */
  beforeHandover = async (): Promise<void> => {};

  async takeLeaderLeases(self: NodeRun, wanted: readonly string[]): Promise<Set<string>> {
    const taken = wanted.filter(name => {
      const holder = this.holders.get(name);
      return holder === undefined || holder.runId === self.runId || !this.alive.has(holder.runId);
    });
    for (const name of taken) this.holders.set(name, self);
    return new Set(taken);
  }

  async listHeldLeaderLeases(): Promise<{ name: string; holder: NodeRun }[]> {
    return [...this.holders]
      .filter(([, { runId }]) => this.alive.has(runId))
      .map(([name, holder]) => ({ name, holder }));
  }

  async handOverLeaderLease(from: NodeRun, name: string, to: NodeRun): Promise<void> {
    await this.beforeHandover();
    if (this.holders.get(name)?.runId !== from.runId) return;
    if (this.alive.has(to.runId)) this.holders.set(name, to);
    else this.holders.delete(name);
  }

  async releaseLeaderLeases({ runId }: NodeRun): Promise<void> {
    for (const [name, holder] of this.holders) if (holder.runId === runId) this.holders.delete(name);
  }
}

/** Nodes that check one after the other, as often as a test wants. */
class Nodes {
  readonly table = new Table();
  readonly #nodes = new Map<string, LeaderLeases>();
  readonly told: string[] = [];

  add(id: string, leases: readonly string[] = names): LeaderLeases {
    const run = { id, runId: `run of ${id}` };
    this.table.alive.add(run.runId);
    const { table } = this;
    const node = new LeaderLeases({
      store: table,
      signals: table.signals,
      run: () => run,
      hasLease: () => table.alive.has(run.runId),
      log: silentLogger,
    });
    node.listen(() => {});
    for (const name of leases) {
      node.add(name).on({
        take: () => void this.told.push(`${id} takes ${name}`),
        leave: () => void this.told.push(`${id} leaves ${name}`),
      });
    }
    this.#nodes.set(id, node);
    return node;
  }

  kill(id: string): void {
    this.table.alive.delete(`run of ${id}`);
    this.#nodes.delete(id);
  }

  async check(times = 1): Promise<void> {
    const peers = [...this.#nodes.keys()];
    for (let time = 0; time < times; time += 1)
      for (const node of this.#nodes.values()) await node.share(peers);
  }

  /** Number of leases of each node. */
  get counts(): number[] {
    const held = names.map(name => [...this.#nodes.values()].filter(node => node.find(name)?.isLeader));
    for (const holders of held) expect(holders.length).toBeLessThanOrEqual(1);
    return [...this.#nodes.values()].map(
      node => names.filter(name => node.find(name)?.isLeader === true).length,
    );
  }
}

describe('leader leases', () => {
  it('are all taken by the first node, and divided evenly among those that come and go', async () => {
    const nodes = new Nodes();
    nodes.add('one');
    await nodes.check();
    expect(nodes.counts).toEqual([7]);
    nodes.add('two');
    await nodes.check(12);
    expect(nodes.counts).toEqual([4, 3]);
    nodes.add('three');
    await nodes.check(12);
    expect(nodes.counts.toSorted()).toEqual([2, 2, 3]);
    nodes.kill('one');
    await nodes.check(12);
    expect(nodes.counts.toSorted()).toEqual([3, 4]);
  });

  it('stay where they are when no other node knows them', async () => {
    const nodes = new Nodes();
    nodes.add('one', ['a', 'b']);
    await nodes.check();
    nodes.add('two', ['a']);
    await nodes.check(12);
    expect(nodes.told).toEqual(['one takes a', 'one takes b']);
  });

  it('stay where they are once they are divided', async () => {
    const nodes = new Nodes();
    for (const id of ['one', 'two', 'three']) nodes.add(id);
    await nodes.check(12);
    const told = nodes.told.length;
    await nodes.check(12);
    expect(nodes.told.length).toBe(told);
  });

  it('are left before another node takes them, and taken by any when that one is gone', async () => {
    const nodes = new Nodes();
    nodes.add('one', ['a', 'b']);
    await nodes.check();
    nodes.add('two', ['a', 'b']);
    nodes.table.beforeHandover = async () => nodes.kill('two');
    await nodes.check(3);
    const [left] = nodes.told.filter(line => line.includes('leaves'));
    expect(left).toMatch(/^one leaves [ab]$/);
    expect(nodes.told.at(-1)).toBe(left!.replace('leaves', 'takes'));
  });

  it('go to other nodes when one gives them away, with one that was just handed over to it', async () => {
    const nodes = new Nodes();
    const one = nodes.add('one', ['a', 'b']);
    await nodes.check();
    const two = nodes.add('two', ['a', 'b']);
    await two.share(['one', 'two']);
    await one.share(['one', 'two']);
    expect(nodes.counts).toEqual([1, 0]);
    await two.giveAway();
    await one.share(['one']);
    expect(nodes.counts).toEqual([2, 0]);
  });
});
