/** Rates are undefined while no publisher is connected. */
export interface HealthMeasurement {
  readonly bitrateBitsPerSecond: number | undefined;
  readonly framesPerSecond: number | undefined;
  readonly audioDriftMilliseconds: number | undefined;
  readonly viewers: number | undefined;
}

interface HealthSample extends HealthMeasurement {
  /** Unix time of the step's start. */
  readonly atMs: number;
}

export interface HealthExcerpt {
  readonly stepSeconds: number;
  readonly samples: readonly HealthSample[];
}

const fields = [
  'bitrateBitsPerSecond',
  'framesPerSecond',
  'audioDriftMilliseconds',
  'viewers',
] as const satisfies readonly (keyof HealthMeasurement)[];

/** Five minutes by the second, an hour by 10 s, twelve hours by the minute. 27 KB in total. */
const resolutions = [
  { stepSeconds: 1, count: 300 },
  { stepSeconds: 10, count: 360 },
  { stepSeconds: 60, count: 720 },
] as const;

export class HealthHistory {
  #rings: readonly SampleRing[] = newRings();
  #lastSecond = 0;

  /** @param atMs Unix time */
  add(measurement: HealthMeasurement, atMs: number): void {
    const second = Math.floor(atMs / 1000);
    // A clock that was set back would mix up the steps.
    if (second < this.#lastSecond) this.#rings = newRings();
    this.#lastSecond = second;
    for (const ring of this.#rings) ring.add(measurement, second);
  }

  excerpt(seconds: number): HealthExcerpt {
    const ring = this.#rings.find(({ seconds: reach }) => reach >= seconds) ?? this.#rings.at(-1)!;
    const oldestMs = (this.#lastSecond - seconds) * 1000;
    return { stepSeconds: ring.stepSeconds, samples: ring.samples().filter(({ atMs }) => atMs > oldestMs) };
  }
}

function newRings(): readonly SampleRing[] {
  return resolutions.map(({ stepSeconds, count }) => new SampleRing(stepSeconds, count));
}

class SampleRing {
  readonly stepSeconds: number;
  readonly #count: number;
  readonly #times: Uint32Array;
  /** Values by sample, then by field; NaN is unknown. */
  readonly #values: Float32Array;
  #written = 0;
  #stepAt = 0;
  readonly #sums = new Float64Array(fields.length);
  readonly #known = new Uint16Array(fields.length);

  constructor(stepSeconds: number, count: number) {
    this.stepSeconds = stepSeconds;
    this.#count = count;
    this.#times = new Uint32Array(count);
    this.#values = new Float32Array(count * fields.length);
  }

  get seconds(): number {
    return this.stepSeconds * this.#count;
  }

  /** @param second Unix time, not before the previous one */
  add(measurement: HealthMeasurement, second: number): void {
    const stepAt = second - (second % this.stepSeconds);
    if (stepAt !== this.#stepAt) this.#nextStep(stepAt);
    for (const [index, field] of fields.entries()) {
      const value = measurement[field];
      if (value === undefined) continue;
      this.#sums[index]! += value;
      this.#known[index]! += 1;
    }
  }

  /** Oldest first; the last one is of the current step. */
  samples(): HealthSample[] {
    const samples: HealthSample[] = [];
    for (let number = Math.max(0, this.#written - this.#count + 1); number < this.#written; number += 1) {
      const slot = number % this.#count;
      const values = this.#values.subarray(slot * fields.length, (slot + 1) * fields.length);
      samples.push(sampleOf(this.#times[slot]!, values));
    }
    if (this.#stepAt > 0) samples.push(sampleOf(this.#stepAt, this.#means()));
    return samples;
  }

  #nextStep(stepAt: number): void {
    if (this.#stepAt > 0) {
      const slot = this.#written % this.#count;
      this.#times[slot] = this.#stepAt;
      this.#values.set(this.#means(), slot * fields.length);
      this.#written += 1;
    }
    this.#stepAt = stepAt;
    this.#sums.fill(0);
    this.#known.fill(0);
  }

  #means(): number[] {
    return fields.map((_, index) =>
      this.#known[index] === 0 ? Number.NaN : this.#sums[index]! / this.#known[index]!,
    );
  }
}

function sampleOf(second: number, values: ArrayLike<number>): HealthSample {
  const of = (field: (typeof fields)[number]) => {
    const value = values[fields.indexOf(field)]!;
    return Number.isNaN(value) ? undefined : Math.round(value);
  };
  return {
    atMs: second * 1000,
    bitrateBitsPerSecond: of('bitrateBitsPerSecond'),
    framesPerSecond: of('framesPerSecond'),
    audioDriftMilliseconds: of('audioDriftMilliseconds'),
    viewers: of('viewers'),
  };
}
