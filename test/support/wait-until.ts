import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { messageOf } from '../../src/shared/errors.ts';
import { waitTimeoutMs } from './deadlines.ts';
import { lastServerLines } from './server-logs.ts';

/** Timeout, interval and message of a wait. */
export interface WaitOptions {
  /** Default {@link waitTimeoutMs}; give another only where the deadline is part of what is tested. */
  readonly timeoutMs?: number;
  /** Default: 10 at first, and 200 once two seconds have passed. Give it for states that pass. */
  readonly everyMs?: number;
  /** Default: the text of the condition. A function is asked at the deadline, so it can tell the last state. */
  readonly what?: string | (() => string);
}

const maxConditionLength = 300;
/** Pauses become longer with the wait: a look at a server costs 5 ms of CPU, and many waits at once would take it from what is waited for. */
const pauseShare = 0.1;
const maxPauseMs = 200;
/** A browser may leave a single call unanswered. It answers the next one. */
const maxLookMs = 80_000;

/**
 * Looks again and again until `condition` gives something other than false, null or undefined, and gives that.
 * A condition that throws counts as not met yet; the last error goes with the failure as its cause.
 *
 * @throws Error that tells what was waited for, what the condition gave last, how often it was looked at, and the end of the servers' logs, after `timeoutMs`. A condition that does not settle is looked at again after 80 s, and given up then too
 */
export async function waitUntil<Result>(
  condition: () => Result | Promise<Result>,
  options: WaitOptions = {},
): Promise<Exclude<Result, false | null | undefined>> {
  const { timeoutMs = waitTimeoutMs, everyMs } = options;
  const started = performance.now();
  let lastError: unknown;
  let last: unknown;
  let looks = 0;
  for (;;) {
    const leftMs = timeoutMs - (performance.now() - started);
    if (leftMs <= 0) break;
    looks += 1;
    try {
      const result = await withDeadline(condition, Math.min(leftMs, maxLookMs));
      lastError = undefined;
      last = result;
      if (result !== false && result !== null && result !== undefined) {
        return result as Exclude<Result, false | null | undefined>;
      }
    } catch (error) {
      lastError = error;
    }
    await sleep(everyMs ?? Math.min(maxPauseMs, 10 + (timeoutMs - leftMs) * pauseShare));
  }
  const what = typeof options.what === 'function' ? options.what() : (options.what ?? textOf(condition));
  const state =
    lastError === undefined ? `it was ${inspect(last)}` : `it failed with: ${messageOf(lastError)}`;
  throw new Error(
    [`waited ${timeoutMs} ms in vain for ${what}; ${state} (looks: ${looks})`, lastServerLines()]
      .join('\n')
      .trimEnd(),
    lastError === undefined ? undefined : { cause: lastError },
  );
}

function textOf(condition: () => unknown): string {
  return String(condition).replaceAll(/\s+/g, ' ').slice(0, maxConditionLength);
}

async function withDeadline<Result>(
  condition: () => Result | Promise<Result>,
  leftMs: number,
): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('the condition did not answer in time')), leftMs);
  try {
    return await Promise.race([condition(), late]);
  } finally {
    clearTimeout(timer);
  }
}
