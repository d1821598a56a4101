import { setTimeout as sleep } from 'node:timers/promises';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { callApi } from '../api-call.ts';
import { type PreparedRecording, Publisher } from '../bench/publisher.ts';
import { parseMediaPlaylist } from '../parse-media-playlist.ts';
import { type CreatedStream, createLiveStream, createVideo } from '../server-process.ts';
import { uploadFile } from '../upload-file.ts';
import type { Cluster, NodeProcess } from './cluster-processes.ts';

const retryMs = 200;
const sendEveryMs = 25;
const requestTimeoutMs = 20_000;

/** Asks the nodes in turn until one has succeeded, as clients behind a load balancer do. */
export async function onAnyNode<Result>(
  { nodes }: Pick<Cluster, 'nodes'>,
  call: (node: NodeProcess) => Promise<Result>,
  signal: AbortSignal,
  first = 0,
): Promise<Result> {
  for (let turn = first; ; turn += 1) {
    const node = nodes[turn % nodes.length]!;
    try {
      return await call(node);
    } catch {
      await sleep(retryMs, undefined, { signal });
    }
  }
}

/** An encoder that connects to another node whenever it loses its connection. */
export class RoamingPublisher {
  readonly stream: CreatedStream;
  /** Times that it was accepted. */
  connections = 0;
  #publisher: Publisher | undefined;
  readonly #running: Promise<void>;

  constructor(
    cluster: Cluster,
    stream: CreatedStream,
    recording: PreparedRecording,
    options: { readonly first: number; readonly signal: AbortSignal },
  ) {
    this.stream = stream;
    this.#running = this.#run(cluster, recording, options).catch(() => {});
  }

  async stopped(): Promise<void> {
    await this.#running;
  }

  /** Connects to another node. */
  disconnect(): void {
    this.#publisher?.disconnect();
  }

  async #run(
    cluster: Cluster,
    recording: PreparedRecording,
    { first, signal }: { readonly first: number; readonly signal: AbortSignal },
  ): Promise<void> {
    for (let turn = first; !signal.aborted; turn += 1) {
      const publisher = await onAnyNode(
        cluster,
        node => Publisher.start(node.rtmpPort, this.stream.streamKey, recording),
        signal,
        turn,
      );
      this.connections += 1;
      this.#publisher = publisher;
      try {
        while (!signal.aborted) {
          publisher.sendDue(performance.now());
          await sleep(sendEveryMs);
        }
      } catch {
        // The node is gone.
      }
      await publisher.stop().catch(() => {});
    }
  }
}

/** Uploads a file as a new video, again until a node has acknowledged it. Returns the id of the video. */
export async function uploadAnywhere(
  cluster: Cluster,
  path: string,
  title: string,
  signal: AbortSignal,
  first: number,
): Promise<string> {
  const { productionKey: apiKey } = cluster;
  const { videoId } = await onAnyNode(
    cluster,
    node => createVideo(node.baseUrl, apiKey, { title }),
    signal,
    first,
  );
  await onAnyNode(
    cluster,
    async ({ baseUrl }) => {
      try {
        await uploadFile({ baseUrl, apiKey, videoId, path, signal, onProgress: () => {} });
      } catch (error) {
        // The node died after it stored the upload and before it could say so.
        if (!String(error).includes('already')) throw error;
      }
    },
    signal,
    first,
  );
  return videoId;
}

export function createStreams(cluster: Cluster, count: number): Promise<CreatedStream[]> {
  const { productionKey, nodes } = cluster;
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      createLiveStream(nodes[index % nodes.length]!.baseUrl, productionKey, `Stream ${index + 1}`, {
        record: true,
      }),
    ),
  );
}

/** A viewer that begins again with the multivariant playlist at any node whenever a request fails, as the player page does. */
export class RoamingViewer {
  /** The number of the next segment, as it saw it last. */
  nextMsn = 0;
  /** Times that it began. */
  beginnings = 0;
  #mediaSequence = 0;
  /** Times that the media sequence, or the newest segment, went back. */
  stepsBack = 0;
  /** The longest time without a new part or segment, after the first one. */
  maxWaitMs = 0;
  #newestAtMs: number | undefined;
  readonly #running: Promise<void>;

  constructor(cluster: Cluster, liveStreamId: string, options: ViewerOptions) {
    this.#running = this.#run(cluster, liveStreamId, options).catch(() => {});
  }

  get hasPlayed(): boolean {
    return this.#newestAtMs !== undefined;
  }

  async stopped(): Promise<void> {
    await this.#running;
  }

  async #run(cluster: Cluster, liveStreamId: string, { first, signal }: ViewerOptions): Promise<void> {
    for (let turn = first; !signal.aborted; turn += 1) {
      const mediaUrl = await onAnyNode(
        cluster,
        async ({ baseUrl }) => {
          const url = `${baseUrl}/${liveStreamId}.m3u8`;
          return new URL(parseMultivariantPlaylist(await fetchText(url, signal)).variants[0]!.uri, url).href;
        },
        signal,
        turn,
      );
      this.beginnings += 1;
      await this.#follow(mediaUrl, signal).catch(() => {});
    }
  }

  async #follow(mediaUrl: string, signal: AbortSignal): Promise<void> {
    for (let query = ''; !signal.aborted; ) {
      const playlist = parseMediaPlaylist(await fetchText(mediaUrl + query, signal));
      const msn = playlist.mediaSequence + playlist.segments.length;
      if (playlist.mediaSequence < this.#mediaSequence || msn < this.nextMsn) this.stepsBack += 1;
      this.#mediaSequence = playlist.mediaSequence;
      this.nextMsn = msn;
      const nowMs = performance.now();
      this.maxWaitMs = Math.max(this.maxWaitMs, nowMs - (this.#newestAtMs ?? nowMs));
      this.#newestAtMs = nowMs;
      if (playlist.endList) return;
      query = `?_HLS_msn=${msn}&_HLS_part=${playlist.openParts?.parts.length ?? 0}`;
    }
  }
}

interface ViewerOptions {
  /** Number of the node that it asks first. */
  readonly first: number;
  readonly signal: AbortSignal;
}

async function fetchText(url: string, signal: AbortSignal): Promise<string> {
  const answer = await fetch(url, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return text;
}

/** Waits until the video can be played at any node. */
export async function untilPlayable(cluster: Cluster, videoId: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { encoding } = await onAnyNode(
      cluster,
      ({ baseUrl }) =>
        callApi<{ encoding: { playable: boolean } }>(
          { baseUrl, productionKey: cluster.productionKey },
          'GET',
          `/videos/${videoId}/status`,
        ),
      signal,
    );
    if (encoding.playable) return;
    await sleep(retryMs, undefined, { signal });
  }
}
