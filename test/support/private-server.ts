import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitTimeoutMs } from './deadlines.ts';

const pollMs = 20;

/** A program that runs as a server for tests, with its files in a temporary folder. */
export class PrivateServer {
  readonly #folder: string;
  readonly #killSignal: NodeJS.Signals;
  readonly #isReady: () => Promise<boolean>;
  #pid: number | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #output = '';

  constructor(options: {
    readonly folder: string;
    readonly killSignal: NodeJS.Signals;
    readonly isReady: () => Promise<boolean>;
  }) {
    this.#folder = options.folder;
    this.#killSignal = options.killSignal;
    this.#isReady = options.isReady;
  }

  /** The end of what it printed as errors. */
  get output(): string {
    return this.#output;
  }

  /** Resolves when it is ready, at once if it runs. Returns false when it ended, or was not ready in time. */
  async start(path: string, args: readonly string[], options: SpawnOptions): Promise<boolean> {
    // A second one would end, since the first has its port, and leave the first to nobody.
    if (this.#pid !== undefined) return true;
    const child = spawn(path, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#output = (this.#output + text).slice(-4_000);
    });
    this.#pid = child.pid;
    this.#ended = once(child, 'exit').then(() => {
      this.#pid = undefined;
    });
    const deadlineAtMs = Date.now() + waitTimeoutMs;
    while (this.#pid !== undefined && Date.now() < deadlineAtMs) {
      if (await this.#isReady()) return true;
      await sleep(pollMs);
    }
    await this.kill();
    return false;
  }

  async kill(signal = this.#killSignal): Promise<void> {
    if (this.#pid !== undefined) process.kill(this.#pid, signal);
    await this.#ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Returns the server once it has started, and removes it when it cannot start. */
export async function startedServer<Server extends { start(): Promise<void>; stop(): Promise<void> }>(
  server: Server,
): Promise<Server> {
  try {
    await server.start();
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}
