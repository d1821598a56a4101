import { type ChildProcess, spawn } from 'node:child_process';
import { describeVideoTag, type FlvTag } from '../../src/media/flv/flv-tag.ts';
import { RtmpClient } from '../../test/support/rtmp-client.ts';
import type { Recording } from './publisher.ts';
import { readRecording } from './recording.ts';

/**
 * A image that says when it was made: 40 bars over its top, black or white, are the low 32 bits of the wall-clock time in milliseconds,
 * highest first, then 8 bits that are their bytes' sum. A bar is 16 pixels wide and 64 high, which survives any encoder.
 */
export const clockImage = {
  width: 640,
  height: 360,
  barWidth: 16,
  barHeight: 64,
  framesPerSecond: 30,
} as const;

/** Size of the head, with the size of the tag that is not there. */
const flvHeadBytes = 13;
const tagHeadBytes = 11;
const { width, height, barWidth, barHeight, framesPerSecond } = clockImage;

/**
 * Publishes the clock image with the recording's audio. A child process encodes each frame as soon as it is drawn, and its output goes to the
 * server at once, without waiting for the audio: what the encoder takes is known, and no part of what the server and the player take.
 */
export class ClockPublisher {
  /** Time from drawing a frame to sending it, for each. */
  readonly encodeMs: number[] = [];
  readonly #client: RtmpClient;
  readonly #encoder: ChildProcess;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAtMs = performance.now();
  readonly #drawnAtMs: number[] = [];
  readonly #audio: readonly FlvTag[];
  readonly #loopMs: number;
  #audioSent = 0;
  #unread: Buffer = Buffer.alloc(0);
  #hasReadHead = false;

  private constructor(ffmpeg: string, client: RtmpClient, recording: Recording) {
    this.#client = client;
    this.#audio = recording.frames.filter(({ kind }) => kind === 'audio');
    this.#loopMs = recording.loopMs;
    for (const head of recording.heads) if (head.kind === 'audio') client.sendTag('audio', 0, head.body);
    const args = [
      ...['-hide_banner', '-loglevel', 'error'],
      ...['-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-s', `${width}x${height}`],
      ...['-framerate', String(framesPerSecond), '-i', 'pipe:0', '-vsync', 'passthrough'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-b:v', '1500k', '-g', '60'],
      ...['-flush_packets', '1', '-f', 'flv', 'pipe:1'],
    ];
    this.#encoder = spawn(ffmpeg, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    for (const pipe of this.#encoder.stdio) pipe?.on('error', () => {});
    this.#encoder.stdout!.on('data', (chunk: Buffer) => this.#read(chunk));
    this.#timer = setInterval(() => this.#produce(), 2);
  }

  /** @param ffmpeg one with libx264 */
  static async start(
    ffmpeg: string,
    port: number,
    streamKey: string,
    recordingPath: string,
  ): Promise<ClockPublisher> {
    const recording = await readRecording(recordingPath);
    const client = await RtmpClient.connect({ port, chunkBytes: 65_536 });
    const status = await client.publish(streamKey);
    if (status.code !== 'NetStream.Publish.Start') throw new Error(`${status.code}: ${status.description}`);
    return new ClockPublisher(ffmpeg, client, recording);
  }

  get isClosed(): boolean {
    return this.#client.isClosed;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#encoder.stdout!.removeAllListeners('data');
    await this.#client.close();
    if (this.#encoder.exitCode !== null || this.#encoder.signalCode !== null) return;
    const exited = new Promise(resolve => this.#encoder.once('exit', resolve));
    this.#encoder.kill('SIGKILL');
    await exited;
  }

  #produce(): void {
    const elapsedMs = performance.now() - this.#startedAtMs;
    while (this.#drawnAtMs.length <= Math.floor((elapsedMs * framesPerSecond) / 1000)) {
      const nowMs = Date.now();
      this.#encoder.stdin?.write(drawFrame(nowMs, this.#drawnAtMs.push(nowMs)));
    }
    for (;;) {
      const turn = Math.floor(this.#audioSent / this.#audio.length);
      const tag = this.#audio[this.#audioSent % this.#audio.length]!;
      const atMs = turn * this.#loopMs + tag.timestampMs;
      if (atMs > elapsedMs) return;
      this.#client.sendTag('audio', atMs, tag.body);
      this.#audioSent += 1;
    }
  }

  #read(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    if (!this.#hasReadHead) {
      if (this.#unread.length < flvHeadBytes) return;
      this.#hasReadHead = true;
      this.#unread = this.#unread.subarray(flvHeadBytes);
    }
    while (this.#unread.length >= 4) {
      const endsAt = tagHeadBytes + this.#unread.readUIntBE(1, 3) + 4;
      if (this.#unread.length < endsAt) return;
      const kind = this.#unread[0] === 9 ? 'video' : 'script';
      const timestampMs = this.#unread.readUIntBE(4, 3) + this.#unread[7]! * 2 ** 24;
      this.#send({ kind, timestampMs, body: this.#unread.subarray(tagHeadBytes, endsAt - 4) });
      this.#unread = this.#unread.subarray(endsAt);
    }
  }

  #send(tag: FlvTag): void {
    if (tag.kind === 'script') {
      this.#client.sendTag(tag.kind, 0, tag.body);
      return;
    }
    if (describeVideoTag(tag.body)?.role !== 'config') {
      const drawnAtMs = this.#drawnAtMs[this.encodeMs.length];
      if (drawnAtMs !== undefined) this.encodeMs.push(Date.now() - drawnAtMs);
    }
    this.#client.sendTag(tag.kind, tag.timestampMs, tag.body);
  }
}

function drawFrame(nowMs: number, frame: number): Buffer {
  const image = Buffer.alloc((width * height * 3) / 2, 128);
  image.fill(90, 0, width * height);
  const bytes = Buffer.alloc(5);
  bytes.writeUInt32BE(nowMs % 2 ** 32);
  bytes[4] = bytes[0]! + bytes[1]! + bytes[2]! + bytes[3]!;
  const line = Buffer.alloc(width);
  for (let bar = 0; bar < 40; bar += 1) {
    const isWhite = (bytes[bar >> 3]! & (0x80 >> (bar & 7))) !== 0;
    line.fill(isWhite ? 235 : 16, bar * barWidth, (bar + 1) * barWidth);
  }
  for (let row = 0; row < barHeight; row += 1) line.copy(image, row * width);
  // Something that moves, so that frames are not free.
  const left = (frame * 7) % (width - 80);
  for (let row = 160; row < 240; row += 1)
    image.fill(frame % 256, row * width + left, row * width + left + 80);
  return image;
}
