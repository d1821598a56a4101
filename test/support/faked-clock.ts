import type { Clock } from '../../src/shared/clock.ts';

/** Moves with fake timers, which replace only the global `performance`. */
export const fakedClock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
