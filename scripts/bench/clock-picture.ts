import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

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

const { width, height, barWidth, barHeight, framesPerSecond } = clockImage;
const samplesPerSecond = 48_000;

/** Publishes the clock image with a tone through an encoder, each frame made at the moment it is handed over. */
export class ClockPublisher {
  readonly #encoder: ChildProcess;
  readonly #timer: NodeJS.Timeout;
  readonly #startedAtMs = performance.now();
  #frames = 0;

  /** @param ffmpeg one with libx264 */
  constructor(ffmpeg: string, rtmpUrl: string) {
    const input = [
      ...[
        '-hide_banner',
        '-loglevel',
        'error',
        '-fflags',
        'nobuffer',
        '-analyzeduration',
        '0',
        '-probesize',
        '32',
      ],
      ...['-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-s', `${width}x${height}`],
      ...['-framerate', String(framesPerSecond), '-i', 'pipe:0'],
      ...['-f', 's16le', '-ar', String(samplesPerSecond), '-ac', '1', '-i', 'pipe:3'],
    ];
    const video = [
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-tune',
      'zerolatency',
      '-b:v',
      '1500k',
      '-g',
      '60',
    ];
    const output = ['-c:a', 'aac', '-b:a', '96k', '-flush_packets', '1', '-f', 'flv', rtmpUrl];
    this.#encoder = spawn(ffmpeg, [...input, ...video, ...output], {
      stdio: ['pipe', 'ignore', 'inherit', 'pipe'],
    });
    for (const pipe of this.#encoder.stdio) pipe?.on('error', () => {});
    this.#timer = setInterval(() => this.#sendDueFrames(), 4);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#encoder.exitCode !== null || this.#encoder.signalCode !== null) return;
    const exited = new Promise(resolve => this.#encoder.once('exit', resolve));
    // Asked with SIGINT it goes on waiting for input; what it still holds is of no use to anybody.
    this.#encoder.kill('SIGKILL');
    await exited;
  }

  #sendDueFrames(): void {
    const due = Math.floor(((performance.now() - this.#startedAtMs) * framesPerSecond) / 1000);
    while (this.#frames <= due) {
      this.#frames += 1;
      this.#encoder.stdin?.write(drawFrame(Date.now(), this.#frames));
      (this.#encoder.stdio[3] as Writable).write(makeTone(this.#frames));
    }
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

function makeTone(frame: number): Buffer {
  const count = samplesPerSecond / framesPerSecond;
  const samples = Buffer.alloc(count * 2);
  for (let index = 0; index < count; index += 1) {
    const at = (frame * count + index) / samplesPerSecond;
    samples.writeInt16LE(Math.round(6000 * Math.sin(2 * Math.PI * 440 * at)), index * 2);
  }
  return samples;
}
