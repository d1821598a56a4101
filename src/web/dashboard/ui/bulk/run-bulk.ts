import { type ApiProblem, problemOf } from '../../api/problem.ts';

export interface BulkResult<Item> {
  readonly done: readonly Item[];
  /** Items that somebody else deleted. */
  readonly missing: readonly Item[];
  readonly failed: readonly { readonly item: Item; readonly problem: ApiProblem }[];
  /** Items that were left when the work was stopped. */
  readonly left: readonly Item[];
}

const maxAtOnce = 4;
const maxAttempts = 5;
const maxWaitSeconds = 60;
/** The server can't be reached, or refuses this user: what follows would fail as well. */
const finalStatuses: ReadonlySet<number> = new Set([0, 401, 403]);

/** Does the same with many items, some at once, and goes on after failures. Waits where the server asks for it. */
export async function runBulk<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
  options: {
    readonly signal?: AbortSignal;
    readonly onProgress?: (finished: number) => void;
    readonly wait?: (seconds: number) => Promise<void>;
  } = {},
): Promise<BulkResult<Item>> {
  const { signal, onProgress, wait = waitSeconds } = options;
  const done: Item[] = [];
  const missing: Item[] = [];
  const failed: { item: Item; problem: ApiProblem }[] = [];
  let next = 0;
  let isStopped = false;
  const attempt = async (item: Item): Promise<ApiProblem | undefined> => {
    for (let attempts = 1; ; attempts += 1) {
      try {
        await work(item);
        return undefined;
      } catch (error) {
        const problem = problemOf(error);
        if (problem.status !== 429 || attempts === maxAttempts) return problem;
        await wait(Math.min(maxWaitSeconds, problem.retryAfterSeconds ?? 1));
      }
    }
  };
  const worker = async () => {
    while (next < items.length && !isStopped && signal?.aborted !== true) {
      const item = items[next]!;
      next += 1;
      const problem = await attempt(item);
      if (problem === undefined) done.push(item);
      else if (problem.status === 404) missing.push(item);
      else {
        failed.push({ item, problem });
        isStopped ||= finalStatuses.has(problem.status);
      }
      onProgress?.(done.length + missing.length + failed.length);
    }
  };
  await Promise.all(Array.from({ length: maxAtOnce }, worker));
  return { done, missing, failed, left: items.slice(next) };
}

function waitSeconds(seconds: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, seconds * 1000));
}
