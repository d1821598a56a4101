import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  basicAuthorization,
  type CreatedStream,
  createLiveStream,
  type ServerProcess,
  startServerProcess,
} from './server-process.ts';

const shownBeforeMs = 8_000;
const awayMs = 4_000;
const liveWithinMs = 30_000;
const pollMs = 250;
/** While nothing changes, what it takes is told again so often. */
const toldAgainMs = 10_000;

/** `GET /live-streams/{liveStreamId}/restreams`, as far as it is shown here. */
interface Restream {
  readonly state: 'idle' | 'connecting' | 'live' | 'retrying' | 'stopped';
  readonly reason?: string;
  readonly lastError?: string;
  readonly bitrateBitsPerSecond?: number;
  readonly retries?: number;
}

/** A second server that the demo's live stream is sent on to, as to any service that takes RTMP. */
export class DemoDestination {
  readonly #folder: string;
  readonly #stream: CreatedStream;
  readonly #ports: Readonly<Record<string, string>>;
  #server: ServerProcess | undefined;

  private constructor(folder: string, server: ServerProcess, stream: CreatedStream) {
    this.#folder = folder;
    this.#server = server;
    this.#stream = stream;
    this.#ports = {
      MILLRACE_HTTP_PORT: String(server.httpPort),
      MILLRACE_RTMP_PORT: String(server.rtmpPort),
    };
  }

  /** Starts it with a data folder below `folder`. */
  static async start(folder: string): Promise<DemoDestination> {
    const dataDir = join(folder, 'destination');
    const server = await startServerProcess({ dataDir, isDetached: true });
    try {
      const stream = await createLiveStream(server.baseUrl, server.productionKey, 'Demo: the copy');
      return new DemoDestination(dataDir, server, stream);
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** What a live stream names to be sent on to it. */
  get restream(): { readonly name: string; readonly serverUrl: string; readonly streamKey: string } {
    const serverUrl = `rtmp://127.0.0.1:${this.#ports.MILLRACE_RTMP_PORT}/s`;
    return { name: 'Second server', serverUrl, streamKey: this.#stream.streamKey };
  }

  /** Where the copy can be watched. */
  get player(): string {
    return this.#stream.assets.player;
  }

  /** Ends it as a power cut does. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.child.kill('SIGKILL');
    await server?.exited;
  }

  /** Starts it again where it was. */
  async revive(): Promise<void> {
    this.#server = await startServerProcess({ dataDir: this.#folder, env: this.#ports, isDetached: true });
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.stop();
  }
}

/** Tells on the terminal how the restream does, and what happens to it while its destination goes away and comes back. */
export class DemoRestream {
  readonly #server: ServerProcess;
  readonly #liveStreamId: string;
  readonly #signal: AbortSignal;
  #last: Restream | undefined;
  #told = '';
  #toldAtMs = 0;

  constructor(server: ServerProcess, liveStreamId: string, signal: AbortSignal) {
    this.#server = server;
    this.#liveStreamId = liveStreamId;
    this.#signal = signal;
  }

  /** Shows a destination that is killed and started again; settles when that is shown, or `signal` aborts. */
  async show(destination: DemoDestination): Promise<void> {
    await this.#until('live');
    console.log(`
RESTREAM. The broadcast is sent on, as it came in, to a second server. Open this in a browser:

  ${destination.player}
`);
    await this.#for(shownBeforeMs);
    console.log('  The second server is killed now. The broadcast does not notice.');
    await destination.kill();
    await this.#until('retrying');
    await this.#for(awayMs);
    console.log('  The second server is started again.');
    await destination.revive();
    const startedAtMs = performance.now();
    await this.#until('live');
    const seconds = (performance.now() - startedAtMs) / 1000;
    console.log(`  It gets the broadcast again, ${seconds.toFixed(1)} s later: look at its page.`);
  }

  /** Goes on telling until `signal` aborts. */
  async watch(): Promise<void> {
    await this.#for(Number.POSITIVE_INFINITY);
  }

  async #for(ms: number): Promise<void> {
    const untilMs = performance.now() + ms;
    while (performance.now() < untilMs) await this.#look();
  }

  async #until(state: Restream['state']): Promise<void> {
    const untilMs = performance.now() + liveWithinMs;
    for (;;) {
      await this.#look();
      if (this.#last?.state === state) return;
      if (performance.now() > untilMs) {
        throw new Error(`The restream is not ${state} after ${liveWithinMs / 1000} s: ${this.#told}`);
      }
    }
  }

  async #look(): Promise<void> {
    await sleep(pollMs, undefined, { signal: this.#signal });
    const path = `/live-streams/${this.#liveStreamId}/restreams`;
    const headers = { authorization: basicAuthorization(this.#server.productionKey) };
    const answer = await fetch(this.#server.baseUrl + path, { headers, signal: this.#signal });
    if (!answer.ok) throw new Error(`GET ${path} answered ${answer.status}: ${await answer.text()}`);
    const [restream] = ((await answer.json()) as { data: Restream[] }).data;
    if (restream === undefined) throw new Error('The live stream has no restream.');
    this.#last = restream;
    this.#tell(restream);
  }

  #tell({ state, reason, lastError, bitrateBitsPerSecond = 0, retries = 0 }: Restream): void {
    const why = state === 'live' ? '' : [reason, lastError].filter(text => text !== undefined).join(': ');
    // The first bitrate comes a while after it is live.
    const told = `${state} ${retries} ${why} ${bitrateBitsPerSecond > 0}`;
    const nowMs = performance.now();
    const isQuiet = told === this.#told && nowMs - this.#toldAtMs < toldAgainMs;
    if (isQuiet) return;
    this.#told = told;
    this.#toldAtMs = nowMs;
    const bitrate = bitrateBitsPerSecond > 0 ? `, ${(bitrateBitsPerSecond / 1e6).toFixed(1)} Mbit/s` : '';
    console.log(`  restream: ${state}${state === 'live' ? bitrate : ''}${why === '' ? '' : ` (${why})`}`);
  }
}
