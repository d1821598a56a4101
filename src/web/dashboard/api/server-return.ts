import type { ApiProblem } from './problem.ts';

const initialDelayMs = 1_000;
const maxDelayMs = 15_000;
/** A failure after so long without one begins another outage. */
const calmMs = 30_000;
/** 0: not reached. The others are those of a proxy whose server is away, or of a server that starts or is overloaded. */
const awayStatuses: ReadonlySet<number> = new Set([0, 502, 503, 504]);

const waiting = new Set<() => void>();
let delayMs = initialDelayMs;
let timer: ReturnType<typeof setTimeout> | undefined;
let lastAwayMs = Number.NEGATIVE_INFINITY;
/** True when an answer has ended the waiting in this outage: after that, answers say nothing about requests that keep failing. */
let hasReturned = false;

export function isAway({ status }: ApiProblem): boolean {
  return awayStatuses.has(status);
}

/** Calls `retry` once, when the server may be back. One of those that wait tries it. Returns a function that cancels. */
export function whenServerReturns(retry: () => void): () => void {
  waiting.add(retry);
  timer ??= setTimeout(tryOne, delayMs * (0.75 + Math.random() / 2));
  return () => {
    waiting.delete(retry);
    if (waiting.size === 0) stopTimer();
  };
}

/** Call this with the status of every answer; 0 when none came. */
export function noteAnswer(status: number): void {
  if (awayStatuses.has(status)) noteAway();
  else if (waiting.size > 0 && !hasReturned) {
    hasReturned = true;
    serverReturned();
  }
}

function noteAway(): void {
  const now = performance.now();
  if (now - lastAwayMs > calmMs) {
    delayMs = initialDelayMs;
    hasReturned = false;
  }
  lastAwayMs = now;
}

function tryOne(): void {
  timer = undefined;
  const [first] = waiting;
  if (first === undefined) return;
  delayMs = Math.min(maxDelayMs, delayMs * 2);
  if (hasReturned) {
    serverReturned();
    return;
  }
  waiting.delete(first);
  first();
  // The others follow when it succeeds.
  if (waiting.size > 0) timer ??= setTimeout(tryOne, delayMs);
}

/** Call this when the server is reached in another way. */
export function serverReturned(): void {
  stopTimer();
  const all = [...waiting];
  waiting.clear();
  for (const retry of all) retry();
}

function stopTimer(): void {
  clearTimeout(timer);
  timer = undefined;
}
