import { setTimeout as sleep } from 'node:timers/promises';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { RtmpClient } from '../../test/support/rtmp-client.ts';

/** A recording that can be sent in a loop: config and metadata first, then frames in their order. */
export interface Recording {
  readonly heads: readonly FlvTag[];
  readonly frames: readonly FlvTag[];
  readonly loopMs: number;
}

/** Sends a recording over RTMP in real time and in a loop, without any work on the media. */
export class Publisher {
  readonly #client: RtmpClient;
  readonly #recording: Recording;
  #isStopped = false;

  private constructor(client: RtmpClient, recording: Recording) {
    this.#client = client;
    this.#recording = recording;
  }

  /** Connects and is accepted. @throws Error with the server's words when it is refused */
  static async start(port: number, streamKey: string, recording: Recording): Promise<Publisher> {
    const client = await RtmpClient.connect({ port, chunkBytes: 65_536 });
    const status = await client.publish(streamKey);
    if (status.code !== 'NetStream.Publish.Start') throw new Error(`${status.code}: ${status.description}`);
    return new Publisher(client, recording);
  }

  /**
   * Sends until {@link stop}, each frame when its time has come.
   *
   * @param onVideoSent told the wall-clock time in milliseconds of each video frame that went to the socket
   */
  async run(onVideoSent: (sentAtMs: number) => void = () => {}): Promise<void> {
    const { heads, frames, loopMs } = this.#recording;
    for (const head of heads) this.#client.sendTag(head.kind, 0, head.body);
    const startedAtMs = performance.now();
    for (let turn = 0; ; turn += 1) {
      for (const frame of frames) {
        const atMs = turn * loopMs + frame.timestampMs;
        const leftMs = startedAtMs + atMs - performance.now();
        if (leftMs > 0.5) await sleep(leftMs);
        if (this.#isStopped) return;
        if (this.#client.isClosed) throw new Error('the server closed the connection of a publisher');
        this.#client.sendTag(frame.kind, atMs, frame.body);
        if (frame.kind === 'video') onVideoSent(Date.now());
      }
    }
  }

  /** Ends the broadcast as encoders do. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#client.close();
  }
}
