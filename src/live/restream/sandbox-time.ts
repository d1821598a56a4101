import type { Clock } from '../../shared/clock.ts';
import type { RestreamConfig } from '../broadcast/broadcast-subscriber.ts';

/** Maximum targets of a live stream: changing them does not prolong restreaming. */
const maxTargets = 5;

/** The time that each target of a sandbox broadcast may be live. Switching a destination off and on does not restart it. */
export class SandboxTime {
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #endsByTarget = new Map<string, number>();

  constructor(limitMs: number, clock: Clock) {
    this.#limitMs = limitMs;
    this.#clock = clock;
  }

  isOver(restream: RestreamConfig): boolean {
    const endsMs = this.#endsByTarget.get(targetOf(restream));
    if (endsMs === undefined) return this.#endsByTarget.size >= maxTargets;
    return endsMs <= this.#clock.monotonicMs();
  }

  /** Counts from the first call for a target. */
  leftMs(restream: RestreamConfig): number {
    if (this.isOver(restream)) return 0;
    const target = targetOf(restream);
    const nowMs = this.#clock.monotonicMs();
    const endsMs = this.#endsByTarget.get(target) ?? nowMs + this.#limitMs;
    this.#endsByTarget.set(target, endsMs);
    return endsMs - nowMs;
  }
}

function targetOf({ serverUrl, streamKey }: RestreamConfig): string {
  return `${serverUrl}\n${streamKey}`;
}
