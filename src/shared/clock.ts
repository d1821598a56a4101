import { performance } from 'node:perf_hooks';
import { LRUCache } from 'lru-cache';
export interface Clock {
  /** UTC. May step when the machine's clock is set. */
  nowMs(): number;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};

const secondsOfDay = 86_400;
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const formattedDays = new LRUCache<number, string>({ max: 1_000 });

/** Formats a date of the API: `2026-03-04T05:06:07+00:00`. */
export function formatAtom(atMs: number): string {
  const seconds = Math.floor(atMs / 1_000);
  const day = Math.floor(seconds / secondsOfDay);
  let dayText = formattedDays.get(day);
  if (dayText === undefined) {
    dayText = new Date(atMs).toISOString().slice(0, 11);
    formattedDays.set(day, dayText);
  }
  const ofDay = seconds - day * secondsOfDay;
  const hours = twoDigits[Math.floor(ofDay / 3_600)];
  const minutes = twoDigits[Math.floor(ofDay / 60) % 60];
  return `${dayText}${hours}:${minutes}:${twoDigits[ofDay % 60]}+00:00`;
}
