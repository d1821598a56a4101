import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { ChannelSource } from '../../src/delivery/channel/channel-source.ts';
import { Delivery, type DeliveryOptions } from '../../src/delivery/delivery.ts';
import type { ViewerDropReason } from '../../src/delivery/delivery-observer.ts';
import type { PlayableBroadcast } from '../../src/delivery/live/live-source.ts';
import { ViewerCount } from '../../src/delivery/live/viewer-count.ts';
import type { VodSource } from '../../src/delivery/vod/vod-source.ts';
import { FastPath } from '../../src/http/fast-path/fast-path.ts';
import { addressReader } from '../../src/http/listener/client-address.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import type { CompressedText } from '../../src/shared/text/rendered-text.ts';
import type {
  MediaResponse,
  PlaylistRefusal,
  PlaylistResponse,
  ViewerSignal,
} from '../../src/shared/viewer-responses.ts';
import { DataFolderStorage } from '../../src/storage/data-folder-storage.ts';
import { testBundles } from '../support/browser-bundles.ts';
import { closedStream } from '../support/closed-stream.ts';
import { playbackGateOf } from '../support/playback-gate.ts';

export const publicStream = 'liPublic0000000000000000';
export const privateStream = 'liPrivate000000000000000';
export const target = 2;

export function rendered(text: string): CompressedText {
  return { plain: Buffer.from(text), gzip: gzipSync(text), etag: `"${text.length}"` };
}

/** A broadcast made of buffers. A part that is not there is waited for, as is a playlist asked for by `_HLS_msn=next`. */
export class MemoryBroadcast implements PlayableBroadcast {
  readonly broadcastId: string;
  readonly #address: string;
  videoSize: PlayableBroadcast['videoSize'] = undefined;
  readonly mediaByName = new Map<string, readonly Buffer[]>();
  hasSegment = true;
  ended = false;
  aborted = 0;
  waiting: (() => void)[] = [];

  /** `liveStreamId`: of the stream whose addresses its multivariant playlist has; it has none unless given. */
  constructor(broadcastId: string, liveStreamId?: string) {
    this.broadcastId = broadcastId;
    this.#address = liveStreamId === undefined ? '' : `${liveStreamId}/${broadcastId}/source/index.m3u8\n`;
  }

  multivariant(): CompressedText | undefined {
    return this.hasSegment ? rendered(`#EXTM3U\n# ${this.broadcastId}\n${this.#address}`) : undefined;
  }

  async mediaPlaylist(
    rendition: string,
    query: URLSearchParams,
    signal: ViewerSignal,
  ): Promise<PlaylistResponse | PlaylistRefusal> {
    if (rendition !== 'source') return { status: 404, reason: 'No rendition.' };
    const msn = query.get('_HLS_msn');
    if (msn === 'bad') return { status: 400, reason: 'Not a number.' };
    if (msn === 'late') return { status: 503, reason: 'Held too long.' };
    if (msn === 'broken') throw new Error('a fault inside');
    if (query.has('plain404')) return { status: 404, reason: 'Gone.' };
    if (msn === 'next') await this.#wait(signal);
    return {
      status: 200,
      text: rendered('#EXTM3U\n#EXT-X-TARGETDURATION:2\n'),
      isBlockingReload: msn === 'next',
      targetDurationSeconds: target,
      isComplete: this.ended,
    };
  }

  media(
    rendition: string,
    name: string,
    signal: ViewerSignal,
  ): Promise<MediaResponse | undefined> | MediaResponse | undefined {
    if (rendition !== 'source') return undefined;
    if (name === 'part-next.m4s') return this.#wait(signal).then(() => this.#media(name));
    return this.#media(name);
  }

  release(): void {
    for (const wake of this.waiting.splice(0)) wake();
  }

  #media(name: string): MediaResponse | undefined {
    const body = this.mediaByName.get(name);
    if (body === undefined) return undefined;
    const bytes = body.reduce((sum, buffer) => sum + buffer.length, 0);
    return { parts: body, bytes, contentType: 'video/mp4', etag: `"${name}"`, lifetimeSeconds: 60 };
  }

  #wait(signal: ViewerSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push(resolve);
      signal.addEventListener('abort', () => {
        this.aborted += 1;
        reject(new Error('the viewer has left'));
      });
    });
  }
}

/** Answer to a request. */
export interface HttpReply {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

const noVideos: VodSource = {
  find: async () => undefined,
  multivariant: async () => undefined,
  captionsPlaylist: () => undefined,
  mediaPlaylist: async () => undefined,
  media: async () => undefined,
  file: async () => undefined,
  downloadUrl: async () => undefined,
  textTrack: async () => undefined,
};

const noChannels: ChannelSource = {
  findBySlug: async () => undefined,
  findByProject: async () => undefined,
  findByPair: async () => undefined,
  logo: async () => undefined,
  videos: async () => [],
  announcedStreams: async () => [],
  liveStreams: async () => [],
};

const storage = new DataFolderStorage('/');

export const localFiles: DeliveryOptions['storage'] = {
  open: path => storage.open(path),
  find: path => storage.find(path),
};

export const protocols = ['HTTP/1.1', 'HTTP/1.1, fast path', 'HTTP/2'] as const;

export type Protocol = (typeof protocols)[number];

/** Delivery behind a real server on a free port. */
export async function startDelivery(protocol: Protocol, options: Partial<DeliveryOptions> = {}) {
  const broadcasts = new Map<string, MemoryBroadcast>();
  const hidden = new MemoryBroadcast('b1', privateStream);
  const hiddenStream = {
    ...closedStream,
    projectId: 'prOfTest',
    name: 'Hidden',
    public: false,
    isDeleted: false,
  };
  const listeners = new Set<() => void>();
  const requests: [string, number][] = [];
  const dropped: ViewerDropReason[] = [];
  const errors: string[] = [];
  const stream = {
    ...closedStream,
    projectId: 'prOfTest',
    name: 'Pier <cam>',
    public: true,
    thumbnail: undefined as string | undefined,
  };
  const current = { broadcast: undefined as MemoryBroadcast | undefined, live: true };
  let bytesOut = 0;
  const clock = options.clock ?? systemClock;
  const viewers = new ViewerCount(clock);
  const delivery = new Delivery({
    bundles: testBundles,
    storage: localFiles,
    frames: { hasFrame: () => false, frame: async () => undefined },
    storyboards: { sheet: async () => undefined },
    vod: noVideos,
    watch: { details: async () => undefined, recordingOf: async () => undefined },
    channels: noChannels,
    viewersOf: async () => 0,
    logo: async () => undefined,
    playback: playbackGateOf({ clock }),
    publicUrl: () => '',
    docsBase: () => '/docs/errors',
    addressOf: addressReader([]),
    viewerStallMs: 10_000,
    clock,
    viewers,
    live: {
      current: id => (id === privateStream ? hidden : id === publicStream ? current.broadcast : undefined),
      find: (id, broadcastId) => {
        if (id === publicStream) return broadcasts.get(broadcastId);
        return id === privateStream && broadcastId === hidden.broadcastId ? hidden : undefined;
      },
      state: () =>
        current.broadcast !== undefined && current.live
          ? { live: true, broadcastId: current.broadcast.broadcastId }
          : { live: false },
      onStateChange: (_, listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    streams: {
      find: async id => {
        if (id === publicStream) return stream;
        return id === privateStream && !hiddenStream.isDeleted ? { ...hiddenStream } : undefined;
      },
      thumbnailPath: async () => stream.thumbnail,
    },
    log: { ...silentLogger, error: event => errors.push(event) },
    observer: {
      bytesOut: count => {
        bytesOut += count;
      },
      viewerDropped: reason => dropped.push(reason),
      request: (kind, status) => requests.push([kind, status]),
    },
    ...options,
  });

  const fallThrough = 'the API';
  const server =
    protocol === 'HTTP/2'
      ? http2.createServer((request, response) => {
          if (!delivery.handle(request, response)) response.end(fallThrough);
        })
      : http.createServer((request, response) => {
          if (!delivery.handle(request, response)) response.end(fallThrough);
        });
  const sockets = new Set<Socket>();
  if (protocol === 'HTTP/1.1, fast path') {
    new FastPath(server as http.Server, {
      serve: (request, response) => delivery.handleFast(request, response),
      fieldsFor: () => '',
      basePath: '',
      headersTimeoutMs: 10_000,
      keepAliveTimeoutMs: 65_000,
      failed: error => errors.push(String(error)),
    });
    server.on('connection', (socket: Socket) => sockets.add(socket));
  }
  const sessions = new Set<http2.ServerHttp2Session>();
  if (protocol === 'HTTP/2') {
    server.on('session', (session: http2.ServerHttp2Session) => {
      sessions.add(session);
      session.once('close', () => sessions.delete(session));
    });
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let client: http2.ClientHttp2Session | undefined;
  const agent = new http.Agent({ keepAlive: true });

  return {
    delivery,
    viewers,
    port,
    stream,
    hidden,
    hiddenStream,
    current,
    requests,
    dropped,
    errors,
    listeners,
    sessions,
    bytesOut: () => bytesOut,
    /** Makes a broadcast the current one. */
    begin(broadcastId: string): MemoryBroadcast {
      const broadcast = new MemoryBroadcast(broadcastId);
      broadcasts.set(broadcastId, broadcast);
      current.broadcast = broadcast;
      for (const listener of [...listeners]) listener();
      return broadcast;
    },
    tellChange(): void {
      for (const listener of [...listeners]) listener();
    },
    ask(
      path: string,
      headers: Record<string, string> = {},
      method = 'GET',
      signal?: AbortSignal,
    ): Promise<HttpReply> {
      if (protocol !== 'HTTP/2') return askHttp1({ port, agent, path, headers, method, signal });
      client ??= http2.connect(`http://127.0.0.1:${port}`);
      return askHttp2({ client, path, headers, method, signal });
    },
    async [Symbol.asyncDispose]() {
      await delivery.stop();
      client?.destroy();
      agent.destroy();
      if (server instanceof http.Server) server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

interface HttpQuery {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly method: string;
  readonly signal: AbortSignal | undefined;
}

function askHttp1(question: HttpQuery & { port: number; agent: http.Agent }): Promise<HttpReply> {
  const { signal, ...rest } = question;
  return new Promise((resolve, reject) => {
    const request = http.request(
      { host: '127.0.0.1', ...rest, ...(signal === undefined ? {} : { signal }) },
      response => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    request.on('error', reject);
    request.end();
  });
}

function askHttp2(question: HttpQuery & { client: http2.ClientHttp2Session }): Promise<HttpReply> {
  const { client, path, headers, method, signal } = question;
  return new Promise((resolve, reject) => {
    const request = client.request(
      { ...headers, ':path': path, ':method': method },
      signal === undefined ? {} : { signal },
    );
    const chunks: Buffer[] = [];
    let head: http2.IncomingHttpHeaders = {};
    request.on('response', received => {
      head = received;
    });
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', reject);
    request.on('end', () => {
      const { ':status': status = 0, ...rest } = head as http2.IncomingHttpHeaders &
        http2.IncomingHttpStatusHeader;
      resolve({ status, headers: rest as http.IncomingHttpHeaders, body: Buffer.concat(chunks) });
    });
    request.end();
  });
}
