import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { callApi } from '../../scripts/api-call.ts';
import { PreparedRecording } from '../../scripts/bench/publisher.ts';
import { makeRecording, readRecording } from '../../scripts/bench/recording.ts';
import {
  createStreams,
  onAnyNode,
  RoamingPublisher,
  RoamingViewer,
  uploadAnywhere,
} from '../../scripts/cluster/cluster-load.ts';
import {
  type Cluster,
  type ClusterOptions,
  type NodeProcess,
  startCluster,
} from '../../scripts/cluster/cluster-processes.ts';
import type { CreatedStream } from '../../scripts/server-process.ts';
import { type Receiver, startReceiver } from '../service/webhook-fixture.ts';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { ffmpegPath } from '../support/ffmpeg.ts';
import { findPostgres } from '../support/postgres.ts';
import { s3Missing } from '../support/s3.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { makeFilm, type Status } from './vod-server-fixture.ts';

export const clusterMissing = findPostgres() === undefined ? 'PostgreSQL is not installed' : s3Missing;
if (clusterMissing !== undefined) console.log(`Skipped: ${clusterMissing}`);

const streamKilobits = 200;
const retryMs = 200;
const maxLoggedLines = 15;
const maxLoggedLineLength = 500;
/** Statistics of broadcasts come each second. */
const maxSilenceMs = 20_000;

const watchedTypes = [
  'live-stream.broadcast.started',
  'live-stream.broadcast.ended',
  'video.source.recorded',
  'video.source.failed',
  'video.encoding.failed',
  'video.encoding.quality.completed',
];

export const testSettings = {
  MILLRACE_ALLOW_PRIVATE_TARGETS: 'true',
  MILLRACE_ENCODE_PRESET: 'ultrafast',
  MILLRACE_LIVE_SEGMENT_TARGET: '1s',
  // A job may be on each server that is killed.
  MILLRACE_JOBS_MAX_CRASHES: '10',
};

/** Ends with the test. */
export async function startTestCluster(nodes: ClusterOptions['nodes']): Promise<Cluster> {
  const folder = await testTempDir();
  const cluster = await startCluster({ folder, nodes });
  onTestFinished(() => cluster.stop());
  return cluster;
}

/** Returns the rows of a query to the database of the cluster. */
export async function rowsOf<Row extends pg.QueryResultRow>(
  { urls }: Pick<Cluster, 'urls'>,
  text: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: urls.MILLRACE_DATABASE_URL });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Lines of the node's log about the event. */
export function linesWith({ server }: NodeProcess, event: string): string[] {
  return server?.lines.filter(line => line.includes(`"event":"${event}"`)) ?? [];
}

export function hasLogged(node: NodeProcess, event: string): boolean {
  return linesWith(node, event).length > 0;
}

interface FeedEvent {
  readonly eventId: string;
  readonly type: string;
  readonly videoId?: string;
  readonly liveStreamId?: string;
  readonly encoding?: string;
  readonly quality?: string;
}

/** A client of `/events` that goes on at another node with what it has not got. */
class RoamingListener {
  readonly events: FeedEvent[] = [];
  readonly #cluster: Pick<Cluster, 'nodes' | 'productionKey'>;
  readonly #running: Promise<void>;

  constructor(cluster: Pick<Cluster, 'nodes' | 'productionKey'>, signal: AbortSignal) {
    this.#cluster = cluster;
    this.#running = this.#run(signal).catch(() => {});
  }

  get ids(): number[] {
    return this.events.map(({ eventId }) => Number(eventId));
  }

  ofType(type: string): FeedEvent[] {
    return this.events.filter(event => event.type === type);
  }

  async stopped(): Promise<void> {
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { nodes } = this.#cluster;
    for (let turn = 0; ; turn += 1) {
      await this.#listen(nodes[turn % nodes.length]!, signal);
      await sleep(retryMs, undefined, { signal });
    }
  }

  #listen({ baseUrl }: NodeProcess, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const url = `${baseUrl.replace('http', 'ws')}/events?lastEventId=${this.ids.at(-1) ?? 0}`;
    const socket = new WebSocket(url, { auth: `${this.#cluster.productionKey}:` });
    const end = () => socket.terminate();
    const silence = setTimeout(end, maxSilenceMs);
    socket.on('message', data => {
      silence.refresh();
      const message = JSON.parse(String(data)) as FeedEvent;
      if (message.eventId !== undefined) this.events.push(message);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(silence);
      signal.removeEventListener('abort', end);
      resolve();
    });
    signal.addEventListener('abort', end);
    return promise;
  }
}

interface LoadOptions {
  readonly streams?: number;
  readonly viewersPerStream?: number;
}

/** Publishers, viewers, uploads, a client of `/events` and a webhook receiver, all of which use any node. */
export class ClusterLoad {
  readonly cluster: Cluster;
  readonly streams: readonly CreatedStream[];
  readonly publishers: readonly RoamingPublisher[];
  readonly viewers: readonly RoamingViewer[];
  readonly listener: RoamingListener;
  readonly #clients: Cluster;
  /** Nodes that clients use: a load balancer sends them to no other. */
  readonly #inService: NodeProcess[];
  readonly #receiver: Receiver;
  readonly #path: string;
  readonly #uploads: Promise<string>[] = [];
  readonly #playing: AbortController;
  readonly #publishing: AbortController;

  private constructor(
    cluster: Cluster,
    parts: {
      readonly recording: PreparedRecording;
      readonly path: string;
      readonly receiver: Receiver;
      readonly streams: readonly CreatedStream[];
      readonly viewersPerStream: number;
    },
  ) {
    const { recording, path, receiver, streams, viewersPerStream } = parts;
    this.cluster = cluster;
    this.#inService = [...cluster.nodes];
    this.#clients = { ...cluster, nodes: this.#inService };
    this.streams = streams;
    this.#path = path;
    this.#receiver = receiver;
    this.#playing = new AbortController();
    this.#publishing = new AbortController();
    const { signal } = this.#playing;
    this.listener = new RoamingListener(this.#clients, signal);
    this.publishers = streams.map(
      (stream, first) =>
        new RoamingPublisher(this.#clients, stream, recording, { first, signal: this.#publishing.signal }),
    );
    this.viewers = streams.flatMap(({ liveStreamId }, index) =>
      Array.from(
        { length: viewersPerStream },
        (_, number) => new RoamingViewer(this.#clients, liveStreamId, { first: index + number, signal }),
      ),
    );
  }

  /** Resolves when all viewers play. */
  static async start(cluster: Cluster, options: LoadOptions = {}): Promise<ClusterLoad> {
    const { streams: count = 2, viewersPerStream = 2 } = options;
    const folder = await testTempDir();
    const path = join(folder, 'film.mp4');
    await makeFilm(path, { seconds: 2, size: '320x180' });
    const live = join(folder, 'live.flv');
    await makeRecording(ffmpegPath, live, streamKilobits, { size: '160x90', gopSeconds: 1 });
    const receiver = await startReceiver();
    await callApi({ ...cluster, ...cluster.nodes[0]! }, 'POST', '/webhooks', {
      url: receiver.url,
      events: watchedTypes,
    });
    const load = new ClusterLoad(cluster, {
      path,
      receiver,
      viewersPerStream,
      recording: new PreparedRecording(await readRecording(live)),
      streams: await createStreams(cluster, count),
    });
    onTestFinished(() => load.#end());
    await waitUntil(() => load.viewers.every(({ hasPlayed }) => hasPlayed), { what: 'all viewers' });
    return load;
  }

  /** Uploads, each through another node. */
  upload(count = 1, path = this.#path): void {
    for (let index = 0; index < count; index += 1) {
      const number = this.#uploads.length;
      const { signal } = this.#playing;
      const upload = uploadAnywhere(this.#clients, path, `Upload ${number}`, signal, number);
      upload.catch(() => {});
      this.#uploads.push(upload);
    }
  }

  /** Sends no client to the node from now on. */
  avoid(node: NodeProcess): void {
    this.#inService.splice(this.#inService.indexOf(node), 1);
  }

  use(node: NodeProcess): void {
    this.#inService.push(node);
  }

  /** Waits until every viewer has got further segments. */
  async untilViewersProgress(segments = 2): Promise<void> {
    const before = this.viewers.map(({ nextMsn }) => nextMsn);
    const waiting = () => this.viewers.filter(({ nextMsn }, at) => nextMsn < before[at]! + segments);
    await waitUntil(() => waiting().length === 0, {
      what: () => `${waiting().length} of ${before.length} viewers, which get no more segments`,
    });
  }

  /** Ends the broadcasts, and expects that nothing of all that happened was lost or doubled. */
  async expectNothingLost(): Promise<void> {
    const videoIds = await Promise.all(this.#uploads);
    await this.untilViewersProgress();
    expect(this.viewers.map(({ stepsBack }) => stepsBack)).toEqual(this.viewers.map(() => 0));
    this.#publishing.abort();
    await Promise.all(this.publishers.map(publisher => publisher.stopped()));
    const { signal } = this.#playing;
    for (const { liveStreamId } of this.streams) {
      await onAnyNode(
        this.cluster,
        node => this.#call(node, 'PUT', `/live-streams/${liveStreamId}/complete`),
        signal,
      );
      videoIds.push(await this.#recordingOf(liveStreamId));
    }
    for (const videoId of videoIds) await this.#expectPlayable(videoId);
    for (const type of [
      'live-stream.broadcast.started',
      'live-stream.broadcast.ended',
      'video.source.recorded',
    ]) {
      const ids = this.listener.ofType(type).map(({ liveStreamId }) => liveStreamId);
      expect([type, ids.toSorted()]).toEqual([type, this.streams.map(one => one.liveStreamId).toSorted()]);
    }
    const encoded = this.listener
      .ofType('video.encoding.quality.completed')
      .map(({ videoId, encoding, quality }) => `${videoId} ${encoding} ${quality}`);
    expect(encoded).toEqual([...new Set(encoded)]);
    await this.#expectAllEvents();
  }

  /** Waits for the only video of a live stream. */
  async #recordingOf(liveStreamId: string): Promise<string> {
    const recorded = () =>
      this.listener.ofType('video.source.recorded').filter(event => event.liveStreamId === liveStreamId);
    await waitUntil(() => recorded().length > 0, { what: 'a recording' });
    for (const node of this.cluster.nodes) {
      const path = `/videos?liveStreamId=${liveStreamId}`;
      const { data } = await this.#call<{ data: { videoId: string }[] }>(node, 'GET', path);
      expect(data.map(({ videoId }) => videoId)).toEqual([recorded()[0]!.videoId]);
    }
    return recorded()[0]!.videoId!;
  }

  async #expectPlayable(videoId: string): Promise<void> {
    let status: Status | undefined;
    await waitUntil(
      async () => {
        status = await this.#call<Status>(this.cluster.nodes[0]!, 'GET', `/videos/${videoId}/status`);
        const { qualities } = status.encoding;
        return qualities.length > 0 && qualities.every(quality => quality.status === 'encoded');
      },
      // The fifth attempt of a job comes two minutes after the fourth.
      {
        what: () => `the video ${videoId}: ${JSON.stringify(status)}\n${logOf(this.cluster, videoId)}`,
        timeoutMs: encodeTimeoutMs,
      },
    );
    await waitUntil(
      () => this.listener.events.some(event => event.videoId === videoId && event.encoding === 'hls'),
      { what: `the event of the video ${videoId}` },
    );
    for (const { baseUrl } of this.cluster.nodes) {
      const multivariant = `${baseUrl}/vod/${videoId}/hls/manifest.m3u8`;
      const playlist = new URL(firstUri(await textOf(multivariant)), multivariant).href;
      await textOf(new URL(firstUri(await textOf(playlist)), playlist).href);
    }
  }

  /** The numbers of events have no gap, and the receiver got each one. */
  async #expectAllEvents(): Promise<void> {
    const received = () =>
      new Set(this.#receiver.hooks.map(({ headers }) => String(headers['millrace-event-id'])));
    const missing = () =>
      this.listener.events.filter(
        ({ type, eventId }) => watchedTypes.includes(type) && !received().has(eventId),
      );
    await waitUntil(() => missing().length === 0, {
      what: () => `webhooks: ${JSON.stringify(missing())}`,
    });
    const { ids } = this.listener;
    expect(ids).toEqual(ids.map((_, index) => index + 1));
    for (const node of this.cluster.nodes) {
      const again = new RoamingListener({ ...this.cluster, nodes: [node] }, this.#playing.signal);
      await waitUntil(() => again.ids.length >= ids.length, { what: 'the events of a node' });
      expect(again.events.slice(0, ids.length)).toEqual(this.listener.events.slice(0, ids.length));
    }
    expect(this.listener.events.filter(({ type }) => type.endsWith('.failed'))).toEqual([]);
  }

  #call<Answer>({ baseUrl }: NodeProcess, method: 'GET' | 'PUT', path: string): Promise<Answer> {
    return callApi<Answer>({ baseUrl, productionKey: this.cluster.productionKey }, method, path);
  }

  async #end(): Promise<void> {
    this.#publishing.abort();
    this.#playing.abort();
    await Promise.all([...this.publishers, ...this.viewers, this.listener].map(one => one.stopped()));
  }
}

/** The newest lines of each server that name the video. */
function logOf({ nodes }: Cluster, videoId: string): string {
  return nodes
    .flatMap(({ name, server }) => {
      const lines = server?.lines.filter(line => line.includes(videoId)) ?? ['is down'];
      return lines.slice(-maxLoggedLines).map(line => `${name}: ${line.slice(0, maxLoggedLineLength)}`);
    })
    .join('\n');
}

async function textOf(url: string): Promise<string> {
  const answer = await fetch(url);
  const text = await answer.text();
  expect([url, answer.status]).toEqual([url, 200]);
  return text;
}

function firstUri(playlist: string): string {
  return playlist.split('\n').find(line => line !== '' && !line.startsWith('#'))!;
}
