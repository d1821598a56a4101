import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import type { TrackKind } from '../../src/media/samples/media-sample.ts';
import { RtmpClient, writeChunks } from '../../test/support/rtmp-client.ts';

/** A recording that can be sent in a loop: config and metadata first, then frames in their order. */
export interface Recording {
  readonly heads: readonly FlvTag[];
  readonly frames: readonly FlvTag[];
  readonly loopMs: number;
}

/** Chunk size that OBS sends. */
const chunkBytes = 4_096;
const tags = {
  audio: { type: 8, chunkStreamId: 4 },
  video: { type: 9, chunkStreamId: 6 },
} as const;

interface PreparedFrame {
  readonly atMs: number;
  readonly kind: TrackKind;
  readonly chunks: Buffer;
}

/** A recording as RTMP chunks. Their headers hold time differences, so that every loop and publisher sends the same bytes. */
export class PreparedRecording {
  readonly heads: readonly FlvTag[];
  readonly loopMs: number;
  readonly firstLoop: readonly PreparedFrame[];
  readonly laterLoops: readonly PreparedFrame[];

  constructor({ heads, frames, loopMs }: Recording) {
    this.heads = heads;
    this.loopMs = loopMs;
    const lastMs: Record<TrackKind, number> = { audio: 0, video: 0 };
    const prepare = (offsetMs: number): PreparedFrame[] =>
      frames.flatMap(({ kind, timestampMs, body }) => {
        if (kind === 'script') return [];
        const atMs = offsetMs + timestampMs;
        const chunks = toDeltaHeader(
          writeChunks({ ...tags[kind], payload: body, timestampMs: atMs - lastMs[kind] }, chunkBytes),
        );
        lastMs[kind] = atMs;
        return [{ atMs: timestampMs, kind, chunks }];
      });
    this.firstLoop = prepare(0);
    this.laterLoops = prepare(loopMs);
  }
}

/** Sends a recording over RTMP in real time and in a loop, without any work on the media. */
export class Publisher {
  readonly #client: RtmpClient;
  readonly #recording: PreparedRecording;
  readonly #onVideoSent: ((sentAtMs: number) => void) | undefined;
  readonly #startedAtMs = performance.now();
  #loops = 0;
  #next = 0;

  private constructor(
    client: RtmpClient,
    recording: PreparedRecording,
    onVideoSent: ((sentAtMs: number) => void) | undefined,
  ) {
    this.#client = client;
    this.#recording = recording;
    this.#onVideoSent = onVideoSent;
    for (const head of recording.heads) client.sendTag(head.kind, 0, head.body);
  }

  /**
   * Connects and is accepted.
   *
   * @param onVideoSent told the wall-clock time in milliseconds of each video frame that went to the socket
   * @throws Error with the server's words when it is refused
   */
  static async start(
    port: number,
    streamKey: string,
    recording: PreparedRecording,
    onVideoSent?: (sentAtMs: number) => void,
  ): Promise<Publisher> {
    const client = await RtmpClient.connect({ port, chunkBytes });
    const status = await client.publish(streamKey);
    if (status.code !== 'NetStream.Publish.Start') throw new Error(`${status.code}: ${status.description}`);
    return new Publisher(client, recording, onVideoSent);
  }

  /** Sends each frame whose time has come. @throws Error when the server has closed the connection */
  sendDue(nowMs: number): void {
    const { firstLoop, laterLoops, loopMs } = this.#recording;
    for (;;) {
      const frame = (this.#loops === 0 ? firstLoop : laterLoops)[this.#next]!;
      if (this.#startedAtMs + this.#loops * loopMs + frame.atMs > nowMs) return;
      if (this.#client.isClosed) throw new Error('the server closed the connection of a publisher');
      this.#client.sendRaw(frame.chunks);
      if (frame.kind === 'video') this.#onVideoSent?.(Date.now());
      this.#next = (this.#next + 1) % firstLoop.length;
      if (this.#next === 0) this.#loops += 1;
    }
  }

  /** Drops the connection, as an encoder that gets no answer. */
  disconnect(): void {
    this.#client.destroy();
  }

  /** Ends the broadcast as encoders do. */
  async stop(): Promise<void> {
    await this.#client.close();
  }
}

/** Replaces the header of type 0 by one of type 1, which has a time difference and no message stream. */
function toDeltaHeader(chunks: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x40 | chunks[0]!]), chunks.subarray(1, 8), chunks.subarray(12)]);
}
