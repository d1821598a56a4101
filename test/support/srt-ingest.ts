import { spawnSync } from 'node:child_process';
import { SrtServer, type SrtServerOptions } from '../../src/ingest/srt/srt-server.ts';
import { ffmpegPath } from './ffmpeg.ts';
import { type LogLine, type RecordedPublisher, recordingGate, recordingLogger } from './ingest-client.ts';

/** A started {@link SrtServer} and its events. */
export interface SrtFixture {
  readonly server: SrtServer;
  readonly port: number;
  readonly publishers: RecordedPublisher[];
  readonly log: LogLine[];
  /** Number of calls of each observer method. */
  readonly counts: Map<string, number>;
}

/** Starts a server on a free port; the caller stops it. */
export async function startSrt(options: Partial<SrtServerOptions> = {}): Promise<SrtFixture> {
  const publishers: RecordedPublisher[] = [];
  const log: LogLine[] = [];
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  const server = new SrtServer({
    host: '127.0.0.1',
    port: 0,
    maxConnections: 100,
    perAddress: { maxPerAddress: 100, isExempt: () => false },
    latencyMs: 200,
    passphrase: undefined,
    idleTimeoutMs: 5_000,
    gate: recordingGate(publishers),
    log: recordingLogger(log),
    observer: {
      connectionOpened: () => count('opened'),
      connectionClosed: reason => count(`closed ${reason}`),
      bytesIn: () => {},
      publisherOpened: () => count('publisher-opened'),
      publisherClosed: reason => count(`publisher-closed ${reason}`),
      refused: reason => count(`refused ${reason}`),
      packets: () => {},
    },
    ...options,
  });
  await server.start();
  return { server, port: server.port, publishers, log, counts };
}

/** The ffmpeg that tests publish with speaks SRT. */
export const hasSrtFfmpeg: boolean = /^\s*srt$/m.test(outputOf(ffmpegPath, ['-hide_banner', '-protocols']));
export const hasSrtTools: boolean = outputOf('srt-live-transmit', ['-version']) !== '';
export const hasGstreamer: boolean = ['srtsink', 'tsparse'].every(
  element => outputOf('gst-inspect-1.0', [element]) !== '',
);

/** Empty where the tool is missing or fails. */
function outputOf(tool: string, args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(tool, args, { encoding: 'utf8' });
  return `${stdout ?? ''}${tool === 'gst-inspect-1.0' ? '' : (stderr ?? '')}`;
}
