import type {
  PublishDecision,
  PublisherCloseReason,
  PublisherConnection,
  PublishGate,
  PublishRequest,
} from '../../src/ingest/publish-gate.ts';
import { RtmpServer, type RtmpServerOptions } from '../../src/ingest/rtmp/rtmp-server.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import type { DeclaredMedia } from '../../src/media/samples/declared-media.ts';
import type { LogData, Logger } from '../../src/shared/logger.ts';
import { tagOf } from './media-samples.ts';

/** The stream key that the default gate accepts, with any suffix: `good-key`, `good-key-2`. */
export const goodKey = 'good-key';

/** The media of an accepted publisher. */
export interface RecordedPublisher {
  readonly request: PublishRequest;
  readonly connection: PublisherConnection;
  readonly tags: FlvTag[];
  readonly declared: DeclaredMedia[];
  readonly closeReasons: PublisherCloseReason[];
}

/** A tag body with a frame of H.264. */
export function frameBody(bytes: number, fill = 1): Buffer {
  return Buffer.concat([Buffer.from([0x27, 1, 0, 0, 0]), Buffer.alloc(bytes - 5, fill)]);
}

/** A line of the log. */
export interface LogLine {
  readonly level: string;
  readonly event: string;
  readonly data: LogData;
}

/** A started {@link RtmpServer} and its events. */
export interface IngestFixture {
  readonly server: RtmpServer;
  readonly port: number;
  readonly publishers: RecordedPublisher[];
  readonly log: LogLine[];
  /** Number of calls of each observer method: `opened`, `closed protocol-error`, `refused play`, `publisher-opened`, ... */
  readonly counts: Map<string, number>;
  bytesIn(): number;
}

/** Starts a server on a free port; the caller stops it. Its gate accepts {@link goodKey} unless another is given. */
export async function startIngest(options: Partial<RtmpServerOptions> = {}): Promise<IngestFixture> {
  const publishers: RecordedPublisher[] = [];
  const log: LogLine[] = [];
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  let bytesIn = 0;
  const server = new RtmpServer({
    host: '127.0.0.1',
    rtmpPort: 0,
    maxConnections: 100,
    handshakeTimeoutMs: 5_000,
    gateTimeoutMs: 5_000,
    idleTimeoutMs: 5_000,
    maxMessageBytes: 4 * 1024 * 1024,
    maxMessageRate: 2000,
    gate: recordingGate(publishers),
    log: recordingLogger(log),
    observer: {
      connectionOpened: () => count('opened'),
      connectionClosed: reason => count(`closed ${reason}`),
      bytesIn: bytes => {
        bytesIn += bytes;
      },
      publisherOpened: () => count('publisher-opened'),
      publisherClosed: reason => count(`publisher-closed ${reason}`),
      refused: reason => count(`refused ${reason}`),
      packets: () => {},
    },
    ...options,
  });
  await server.start();
  return { server, port: server.rtmpPort, publishers, log, counts, bytesIn: () => bytesIn };
}

/** A gate that accepts {@link goodKey} and keeps what comes. */
export function recordingGate(publishers: RecordedPublisher[]): PublishGate {
  return {
    request: async (request, connection) => {
      if (!request.streamKey.startsWith(goodKey)) {
        return { accepted: false, reason: 'unknown-key', description: 'The stream key is not known.' };
      }
      return acceptInto(publishers, request, connection);
    },
  };
}

/** Accepts a publisher and records it. */
export function acceptInto(
  publishers: RecordedPublisher[],
  request: PublishRequest,
  connection: PublisherConnection,
): PublishDecision {
  const publisher: RecordedPublisher = { request, connection, tags: [], declared: [], closeReasons: [] };
  publishers.push(publisher);
  return {
    accepted: true,
    sink: {
      media: event => {
        publisher.tags.push(tagOf(event));
        if (event.type === 'declared') publisher.declared.push(event.media);
      },
      closed: reason => publisher.closeReasons.push(reason),
    },
  };
}

/** A logger that keeps its lines. */
export function recordingLogger(lines: LogLine[], ids: LogData = {}): Logger {
  const at = (level: string) => (event: string, data?: LogData) => {
    lines.push({ level, event, data: { ...ids, ...data } });
  };
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (component, more) => recordingLogger(lines, { ...ids, component, ...more }),
  };
}
