import { audioEncodeArguments, encodedAudioRate } from '../../ffmpeg/arguments/audio-encode-arguments.ts';
import type { PipedProcess, ProcessOwner } from '../../ffmpeg/process/owned-process.ts';
import { copyLimits } from '../../ffmpeg/process/process-limits.ts';
import { FragmentReader, type Sample } from '../../media/cmaf/fragment-reader.ts';
import { messageOf } from '../../shared/errors.ts';
import type { AudioInput, EncodedAudioFrame } from './audio-input.ts';

export interface AudioEncoderEvents {
  /** AAC. @param atMs on the broadcast's clock */
  sample(sample: Sample, atMs: number): void;
  /** The last event. `failure` is undefined after a requested end. */
  exited(failure: string | undefined): void;
}

interface AudioEncoderOptions {
  readonly path: string;
  readonly owner: ProcessOwner;
  readonly input: AudioInput;
  readonly events: AudioEncoderEvents;
  readonly niceness: number;
  readonly ids: Readonly<Record<string, unknown>>;
}

/** Unread input beyond this means that ffmpeg hangs: a minute of most codecs. */
const maxUnreadBytes = 1024 * 1024;
/** Time after which an encoder that gets input and writes nothing hangs. */
const stallTimeoutMs = 8000;
/** Input that is older has ended. */
const maxQuietMs = 2000;
/** The encoder's first frame begins before the first sample of its input, and no time may be negative. */
const leadMs = 1000;

/** Runs an ffmpeg that gets only audio and writes AAC. */
export class AudioEncoder {
  readonly #process: PipedProcess;
  readonly #input: AudioInput;
  readonly #events: AudioEncoderEvents;
  /** Offset of the times that ffmpeg gets. */
  #offsetMs: number | undefined;
  #failure: string | undefined;
  #isKilled = false;
  #stallTimer: NodeJS.Timeout | undefined;
  /** `performance.now()`. */
  #lastWriteAtMs = 0;

  /** @throws Error when memory or file descriptors are exhausted */
  constructor({ path, owner, input, events, niceness, ids }: AudioEncoderOptions) {
    this.#input = input;
    this.#events = events;
    this.#process = owner.start(path, audioEncodeArguments(input.format), {
      outputs: 1,
      limits: copyLimits,
      ids,
      niceness,
    });
    this.#process.stdin.write(input.header);
    const reader = new FragmentReader({ onInit: () => {}, onSample: sample => this.#emit(sample) });
    this.#process.output(3).on('data', (chunk: Buffer) => {
      this.#stopStallTimer();
      if (this.#failure !== undefined || this.#isKilled) return;
      try {
        reader.push(chunk);
      } catch (error) {
        this.#fail(`its output is malformed: ${messageOf(error)}`);
      }
    });
    void this.#process.exited.then(exit => {
      this.#stopStallTimer();
      const how = exit.signal === null ? `exit code ${exit.code}` : `signal ${exit.signal}`;
      const isRequested = this.#isKilled || (this.#failure === undefined && exit.kind === 'stopped');
      events.exited(isRequested ? undefined : [this.#failure ?? how, ...exit.lastLines].join(' | '));
    });
  }

  write(frame: EncodedAudioFrame): void {
    const { stdin } = this.#process;
    if (stdin.writableEnded || stdin.destroyed || this.#failure !== undefined) return;
    this.#offsetMs ??= leadMs - frame.atMs;
    stdin.cork();
    for (const bytes of this.#input.frame(frame, this.#offsetMs)) stdin.write(bytes);
    stdin.uncork();
    this.#lastWriteAtMs = performance.now();
    if (stdin.writableLength > maxUnreadBytes) this.#fail('it does not read its input');
    else this.#stallTimer ??= setTimeout(() => this.#checkProgress(), stallTimeoutMs);
  }

  /** Outputs pending media before `exited`. */
  async finish(): Promise<void> {
    await this.#process.stop();
  }

  async kill(): Promise<void> {
    this.#isKilled = true;
    await this.#process.kill();
  }

  #emit(sample: Sample): void {
    const atMs = (sample.dtsTicks * 1000) / encodedAudioRate - (this.#offsetMs ?? 0);
    this.#events.sample(sample, atMs);
  }

  #checkProgress(): void {
    const timer = this.#stallTimer;
    const isQuiet = performance.now() - this.#lastWriteAtMs > maxQuietMs;
    if (isQuiet) this.#stallTimer = undefined;
    // Checks once more: if this process was held up itself, the output waits to be read.
    else
      setImmediate(
        () => this.#stallTimer === timer && this.#fail(`it gave nothing for ${stallTimeoutMs} ms`),
      );
  }

  #stopStallTimer(): void {
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
  }

  #fail(reason: string): void {
    this.#failure ??= reason;
    void this.#process.kill();
  }
}
