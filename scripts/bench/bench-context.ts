import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FfmpegBuild } from '../../src/ffmpeg/build/find-ffmpeg.ts';
import {
  type CreatedStream,
  createLiveStream,
  type ServerProcess,
  startServerProcess,
} from '../server-process.ts';
import type { PublishOrder, PublishReport } from './publish-process.ts';
import type { Row } from './report.ts';

export interface BenchContext {
  /** Folder for what is made once; removed in the end. */
  readonly folder: string;
  /** The one that the server finds. */
  readonly ffmpeg: FfmpegBuild;
  /** An FLV file of 720p30 with 2.5 Mbit/s. */
  readonly recordingPath: string;
  /** Shortens what takes long, for trying a bench out: its numbers then count less. */
  readonly isShort: boolean;
}

/** A bench: what it measured, to be printed. It throws only when it could not measure. */
export type Bench = (context: BenchContext) => Promise<Row[]>;

/** Runs `work` with a server of its own, in a process of its own, and stops it. */
export async function withServer<Result>(
  context: BenchContext,
  env: Readonly<Record<string, string>>,
  work: (server: ServerProcess) => Promise<Result>,
): Promise<Result> {
  const dataDir = await mkdtemp(join(context.folder, 'data-'));
  const server = await startServerProcess({ dataDir, env });
  try {
    return await work(server);
  } finally {
    const { code } = await server.stop();
    if (code !== 0) console.error(`The server ended with ${code}:\n${server.lines.slice(-20).join('\n')}`);
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Makes a live stream. */
export function makeStream(
  server: ServerProcess,
  attributes: Readonly<Record<string, unknown>> = {},
): Promise<CreatedStream> {
  return createLiveStream(server.baseUrl, server.productionKey, 'Bench', attributes);
}

/** A helper process; ends when it is told to, and with this one. */
export class HelperProcess<Report> {
  readonly child: ChildProcess;
  /** Reports that it has sent so far. */
  readonly reports: Report[] = [];
  readonly #exited: Promise<unknown>;
  #nextReport = Promise.withResolvers<void>();

  /** @param script name of a file beside this one; @param order goes to it as JSON */
  constructor(script: string, order: unknown) {
    this.child = fork(fileURLToPath(new URL(script, import.meta.url)), [JSON.stringify(order)]);
    this.#exited = once(this.child, 'exit');
    this.child.on('message', message => {
      this.reports.push(message as Report);
      this.#nextReport.resolve();
      this.#nextReport = Promise.withResolvers();
    });
  }

  /** Waits for a report that was or will be made: the first, or the first that `isWanted`. @throws Error when the process ends first */
  async report(isWanted: (report: Report) => boolean = () => true): Promise<Report> {
    for (;;) {
      const found = this.reports.find(isWanted);
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error(`a helper process ended with ${this.child.exitCode}`);
      await Promise.race([this.#nextReport.promise, this.#exited]);
    }
  }

  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    if (this.child.connected) this.child.send('stop');
    await this.#exited;
  }

  get #hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }
}

type PublishOptions = Partial<Pick<PublishOrder, 'staggerMs' | 'tellFrames' | 'tellFramesOfEvery'>>;

/** Starts publishing the recording of the context to `streams`. */
export function publish(
  context: BenchContext,
  server: ServerProcess,
  streams: readonly CreatedStream[],
  options: PublishOptions = {},
): HelperProcess<PublishReport> {
  const streamKeys = streams.map(stream => stream.streamKey);
  return publishTo(context, server.rtmpPort, streamKeys, options);
}

/** Starts publishing the recording of the context to any RTMP server. */
export function publishTo(
  context: BenchContext,
  port: number,
  streamKeys: readonly string[],
  options: PublishOptions = {},
): HelperProcess<PublishReport> {
  const { recordingPath } = context;
  const order: PublishOrder = {
    port,
    streamKeys,
    recordingPath,
    staggerMs: 0,
    tellFrames: false,
    ...options,
  };
  return new HelperProcess<PublishReport>('./publish-process.ts', order);
}

/** Waits until the publisher of a helper is accepted, and returns the time in milliseconds of wall-clock time. */
export async function acceptedAt(helper: HelperProcess<PublishReport>): Promise<number> {
  return (await helper.report(report => report.kind === 'accepted')).atMs;
}
