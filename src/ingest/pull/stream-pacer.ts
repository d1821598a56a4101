import { PACKET_BYTES, readClockTicks } from '../../media/mpegts/ts-packet.ts';

interface PacerOptions {
  /** Media to hold before the first is passed on. */
  readonly reserveMs: () => number;
  readonly output: (bytes: Buffer) => void;
  /** Pauses the input while enough is held. */
  readonly pauseInput: () => void;
  readonly resumeInput: () => void;
}

/** Packets between two clock references. */
interface HeldPackets {
  readonly mediaMs: number;
  readonly bytes: Buffer[];
}

const ticksPerMs = 90;
const CLOCK_WRAP_TICKS = 2 ** 33;
/** Longer steps are jumps of the clock. */
const maxClockStepMs = 10_000;
const maxHeldMs = 30_000;
const maxHeldBytes = 16 * 1024 ** 2;
/** Bytes passed at once: the event loop must not wait for a broadcast that catches up. */
const maxPassedBytes = 1024 ** 2;

/**
 * Passes a transport stream on at the pace of its clock. Segments of HLS arrive as bursts: what is held bridges the time between
 * two of them. Media that arrives too late delays everything after it, so that the next delay of this length causes no pause.
 */
export class StreamPacer {
  readonly #options: PacerOptions;
  readonly #drained = Promise.withResolvers<void>();
  #rest: Buffer = Buffer.alloc(0);
  #held: HeldPackets[] = [];
  #heldBytes = 0;
  #clockTicks: number | undefined;
  /** Media time of the newest clock reference. */
  #mediaMs = 0;
  /** Time at which media of time 0 is due. Undefined until enough is held. */
  #startedAtMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isPaused = false;
  #isInputPaused = false;
  #isEnded = false;

  constructor(options: PacerOptions) {
    this.#options = options;
  }

  /** @param bytes whole packets, altogether */
  push(bytes: Buffer): void {
    const packets = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const wholeBytes = packets.length - (packets.length % PACKET_BYTES);
    this.#rest = packets.subarray(wholeBytes);
    let heldUntil = 0;
    let mayBeLate = this.#held.length === 0;
    for (let at = 0; at < wholeBytes; at += PACKET_BYTES) {
      const ticks = readClockTicks(packets, at);
      if (ticks === undefined) continue;
      this.#hold(packets.subarray(heldUntil, at));
      heldUntil = at;
      this.#advance(ticks);
      if (mayBeLate) this.#delayStart();
      mayBeLate = false;
      this.#held.push({ mediaMs: this.#mediaMs, bytes: [] });
    }
    this.#hold(packets.subarray(heldUntil, wholeBytes));
    this.#pass();
  }

  /** Resolves when everything is passed on. */
  end(): Promise<void> {
    this.#isEnded = true;
    this.#pass();
    return this.#drained.promise;
  }

  /** Drops what is held. */
  stop(): void {
    this.#held = [];
    this.#heldBytes = 0;
    this.#isPaused = false;
    void this.end();
  }

  pause(): void {
    this.#isPaused = true;
    clearTimeout(this.#timer);
  }

  resume(): void {
    this.#isPaused = false;
    this.#pass();
  }

  #advance(ticks: number): void {
    const stepTicks = (ticks - (this.#clockTicks ?? ticks) + CLOCK_WRAP_TICKS) % CLOCK_WRAP_TICKS;
    this.#clockTicks = ticks;
    if (stepTicks <= maxClockStepMs * ticksPerMs) this.#mediaMs += stepTicks / ticksPerMs;
  }

  /** Media that arrives is due now at the earliest. */
  #delayStart(): void {
    if (this.#startedAtMs === undefined) return;
    this.#startedAtMs = Math.max(this.#startedAtMs, performance.now() - this.#mediaMs);
  }

  #hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#held.length === 0) this.#held.push({ mediaMs: this.#mediaMs, bytes: [] });
    this.#held.at(-1)!.bytes.push(bytes);
    this.#heldBytes += bytes.length;
  }

  #pass(): void {
    clearTimeout(this.#timer);
    this.#start();
    if (this.#startedAtMs !== undefined) this.#passDue(performance.now() - this.#startedAtMs);
    this.#throttleInput();
    if (this.#isPaused) return;
    const [next] = this.#held;
    if (next === undefined && this.#isEnded) this.#drained.resolve();
    if (next === undefined || this.#startedAtMs === undefined) return;
    const waitMs = this.#startedAtMs + next.mediaMs - performance.now();
    this.#timer = setTimeout(() => this.#pass(), Math.max(0, waitMs));
  }

  #start(): void {
    const [first] = this.#held;
    if (this.#startedAtMs !== undefined || first === undefined) return;
    const isEnough = this.#heldMs >= this.#options.reserveMs() || this.#isFull || this.#isEnded;
    if (isEnough) this.#startedAtMs = performance.now() - first.mediaMs;
  }

  #passDue(untilMs: number): void {
    const minHeldBytes = this.#heldBytes - maxPassedBytes;
    while (!this.#isPaused && this.#held.length > 0 && this.#held[0]!.mediaMs <= untilMs) {
      if (this.#heldBytes <= minHeldBytes) return;
      for (const bytes of this.#held.shift()!.bytes) {
        this.#heldBytes -= bytes.length;
        this.#options.output(bytes);
      }
    }
  }

  #throttleInput(): void {
    const { pauseInput, resumeInput } = this.#options;
    if (this.#isFull === this.#isInputPaused) return;
    this.#isInputPaused = this.#isFull;
    if (this.#isInputPaused) pauseInput();
    else resumeInput();
  }

  get #heldMs(): number {
    return this.#mediaMs - (this.#held[0]?.mediaMs ?? this.#mediaMs);
  }

  get #isFull(): boolean {
    return this.#heldMs >= maxHeldMs || this.#heldBytes >= maxHeldBytes;
  }
}
