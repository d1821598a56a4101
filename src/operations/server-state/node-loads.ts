import { formatAtom } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import type { NodeRole } from '../../shared/node-roles.ts';
import { PeriodicTasks } from '../../shared/scheduling/periodic-tasks.ts';
import { type CpuTimes, readCpus, readMemory, sharesBetween } from './machine.ts';
import type { NodeLoadsStore } from './node-loads.store.ts';
import type { ServerStateView } from './server-state.schema.ts';

interface ListedNode {
  readonly id: string;
  readonly roles: readonly NodeRole[];
  readonly url: string;
  readonly version: string;
  readonly startedAtMs: number;
  readonly isDraining: boolean;
}

interface NodeLoadsOptions {
  readonly nodes: {
    readonly self: ListedNode;
    list(): Promise<readonly ListedNode[]>;
    onExpired(listener: (nodeId: string) => Promise<void>): void;
  };
  readonly store: NodeLoadsStore;
  readonly live: () => { readonly broadcasts: number; readonly viewers: number };
  readonly log: Logger;
  /** 5,000 unless given. */
  readonly intervalMs?: number;
}

type NodeView = NonNullable<ServerStateView['nodes']>[number];

const defaultIntervalMs = 5_000;
/** Two reports are missing. */
const unresponsiveMs = 12_000;

/** Stores what this server is doing every few seconds, and lists all that share the database. */
export class NodeLoads implements Component {
  readonly name = 'node-loads';
  readonly #options: NodeLoadsOptions;
  readonly #reports: PeriodicTasks;
  #cpu: CpuTimes = readCpus().times;

  constructor(options: NodeLoadsOptions) {
    this.#options = options;
    this.#reports = new PeriodicTasks({
      name: this.name,
      tasks: [{ name: 'node-load', run: () => this.#report() }],
      everyMs: options.intervalMs ?? defaultIntervalMs,
      log: options.log,
    });
    options.nodes.onExpired(nodeId => options.store.remove(nodeId));
  }

  start(): Promise<void> {
    return this.#reports.start();
  }

  stop(): Promise<void> {
    return this.#reports.stop();
  }

  /** Lists nodes in the order in which they were started. */
  async list(): Promise<NodeView[]> {
    const { nodes, store } = this.#options;
    const [listed, loads, jobs] = await Promise.all([nodes.list(), store.list(), store.countRunningJobs()]);
    return listed.map(({ id, roles, url, version, startedAtMs, isDraining }) => {
      const { load, ageMs = 0 } = loads.get(id) ?? {};
      return {
        nodeId: id,
        url,
        roles: [...roles],
        version,
        startedAt: formatAtom(startedAtMs),
        state: ageMs > unresponsiveMs ? 'unresponsive' : isDraining ? 'draining' : 'ready',
        isCurrent: id === nodes.self.id,
        jobs: jobs.get(id) ?? 0,
        load,
      };
    });
  }

  async #report(): Promise<number> {
    const { nodes, store, live } = this.#options;
    const { cores, times } = readCpus();
    const { machinePercent } = sharesBetween(this.#cpu, times);
    this.#cpu = times;
    const { machineTotalBytes, machineFreeBytes } = readMemory();
    await store.write(nodes.self.id, {
      cores,
      machinePercent,
      ...live(),
      memoryTotalBytes: machineTotalBytes,
      memoryFreeBytes: machineFreeBytes,
    });
    return 0;
  }
}
