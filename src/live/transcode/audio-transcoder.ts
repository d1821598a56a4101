import { encodedAudioRate } from '../../ffmpeg/arguments/audio-encode-arguments.ts';
import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import { messageOf } from '../../shared/errors.ts';
import { SampleClock } from '../packaging/sample-clock.ts';
import type { AudioEncoder, AudioEncoderEvents } from './audio-encoder.ts';
import type { AudioInput, EncodedAudioFrame } from './audio-input.ts';

/** @throws Error when memory or file descriptors are exhausted */
export type StartAudioEncoder = (
  input: AudioInput,
  events: AudioEncoderEvents,
) => Pick<AudioEncoder, 'write' | 'finish' | 'kill'>;

interface AudioTranscoderOptions {
  readonly input: AudioInput;
  readonly startEncoder: StartAudioEncoder;
  /** @param atMs on the broadcast's clock, rising */
  onSample(sample: Sample, atMs: number): void;
  onFailed(report: string): void;
}

/** Media time until the next encoder after a failure: doubles each time, and video continues meanwhile. */
const firstRetryMs = 1000;
const maxRetryMs = 60_000;
/** Samples of an AAC frame. */
const frameSamples = 1024;
/** ffmpeg follows the rounded times of its input; further from the grid, the input has a gap. */
const clockOptions = {
  timescale: encodedAudioRate,
  frameSeconds: frameSamples / encodedAudioRate,
  roundingMs: 3,
  maxDeviationMs: 40,
};
/** An encoder that lasted this long was good. */
const steadyMs = 60_000;

/** Converts one audio track to AAC. A failed encoder is replaced. */
export class AudioTranscoder {
  readonly #options: AudioTranscoderOptions;
  #encoder: ReturnType<StartAudioEncoder> | undefined;
  #exited: Promise<void> = Promise.resolve();
  #retryMs = firstRetryMs;
  #startedAtMs = 0;
  #retryAtMs = Number.NEGATIVE_INFINITY;
  #newestMs = Number.NEGATIVE_INFINITY;
  #clock = new SampleClock(clockOptions);
  #endTicks = Number.NEGATIVE_INFINITY;
  #isOver = false;

  constructor(options: AudioTranscoderOptions) {
    this.#options = options;
  }

  write(frame: EncodedAudioFrame): void {
    if (this.#isOver) return;
    this.#newestMs = frame.atMs;
    if (this.#encoder === undefined && frame.atMs >= this.#retryAtMs) this.#start(frame.atMs);
    this.#encoder?.write(frame);
  }

  /** Resolves after the last sample. */
  async finish(): Promise<void> {
    this.#isOver = true;
    await this.#encoder?.finish();
    await this.#exited;
  }

  async kill(): Promise<void> {
    this.#isOver = true;
    await this.#encoder?.kill();
  }

  #start(atMs: number): void {
    const { input, startEncoder } = this.#options;
    const exited = Promise.withResolvers<void>();
    this.#startedAtMs = atMs;
    try {
      this.#encoder = startEncoder(input, {
        sample: (sample, sampleMs) => this.#emit(sample, sampleMs),
        exited: failure => {
          this.#encoder = undefined;
          if (failure !== undefined) this.#failed(failure);
          exited.resolve();
        },
      });
      this.#exited = exited.promise;
    } catch (error) {
      this.#failed(messageOf(error));
    }
  }

  #emit(sample: Sample, sampleMs: number): void {
    this.#clock.next(sampleMs);
    if (this.#clock.endTicks === undefined) {
      this.#clock = new SampleClock(clockOptions);
      this.#clock.next(sampleMs);
    }
    const { startTicks, lastEndTicks } = this.#clock;
    // The first frames of another encoder may repeat times.
    if (startTicks < this.#endTicks) return;
    this.#endTicks = lastEndTicks;
    const timed = { ...sample, dtsTicks: startTicks, durationTicks: lastEndTicks - startTicks };
    this.#options.onSample(timed, (startTicks * 1000) / encodedAudioRate);
  }

  #failed(report: string): void {
    if (this.#newestMs - this.#startedAtMs >= steadyMs) this.#retryMs = firstRetryMs;
    this.#retryAtMs = this.#newestMs + this.#retryMs;
    this.#retryMs = Math.min(2 * this.#retryMs, maxRetryMs);
    this.#options.onFailed(report);
  }
}
