import type { Clock } from '../shared/clock.ts';
import type { LaneLimits } from './job.ts';
import type { ClaimedJob, JobClaimStore } from './job-claims.store.ts';
import type { StoredJob } from './job-rows.ts';
import type { RunningAttempts } from './running-attempts.ts';

export type ClaimJob = () => Promise<ClaimedJob | undefined>;

const lowestPriority = Number.MIN_SAFE_INTEGER;

type BeginJob = (claim: ClaimJob) => Promise<StoredJob | undefined>;

/** Selects the jobs that this node starts: each lane has room for some. */
export class JobLanes {
  readonly #limits: ReadonlyMap<string, number | LaneLimits>;
  readonly #claims: JobClaimStore;
  readonly #running: RunningAttempts;
  readonly #clock: Clock;

  constructor(options: {
    readonly limits: Readonly<Record<string, number | LaneLimits>>;
    readonly claims: JobClaimStore;
    readonly running: RunningAttempts;
    readonly clock: Clock;
  }) {
    this.#limits = new Map(Object.entries(options.limits));
    this.#claims = options.claims;
    this.#running = options.running;
    this.#clock = options.clock;
  }

  get names(): string[] {
    return [...this.#limits.keys()];
  }

  /** Begins jobs while lanes have room. Returns when more may be due, or infinity. */
  async fill(isStarting: () => boolean, begin: BeginJob): Promise<number> {
    const startedAtMs = this.#clock.monotonicMs();
    let nextInMs = Number.POSITIVE_INFINITY;
    for (const [lane, limits] of this.#limits) {
      if (!(await this.#fillLane(lane, limits, isStarting, begin))) continue;
      const sinceMs = this.#clock.monotonicMs() - startedAtMs;
      nextInMs = Math.min(nextInMs, (await this.#claims.nextDueInMs(lane, sinceMs)) ?? nextInMs);
    }
    return nextInMs;
  }

  /** Returns false when the lane was full already. */
  async #fillLane(
    lane: string,
    limits: number | LaneLimits,
    isStarting: () => boolean,
    begin: BeginJob,
  ): Promise<boolean> {
    const running = this.#running.all.filter(({ kind }) => kind.lane === lane);
    const minPriorities = minPrioritiesOf(limits);
    if (running.length >= minPriorities.length) return false;
    const runningByGroup = new Map<string | undefined, number>();
    const count = ({ groupId }: StoredJob) =>
      runningByGroup.set(groupId, (runningByGroup.get(groupId) ?? 0) + 1);
    for (const { job } of running) count(job);
    for (const minPriority of minPriorities.slice(running.length)) {
      if (!isStarting()) break;
      const begun = await begin(() =>
        typeof limits === 'number'
          ? this.#claims.claimNext({ lane })
          : this.#claimOfGroups({ lane, maxPerGroup: limits.maxPerGroup, minPriority }, runningByGroup),
      );
      if (begun === undefined) break;
      count(begun);
    }
    return true;
  }

  /** Claims from the group with the fewest running jobs. Leaves out groups at their limit. */
  async #claimOfGroups(
    {
      lane,
      maxPerGroup,
      minPriority,
    }: { readonly lane: string; readonly maxPerGroup: number; readonly minPriority: number },
    runningByGroup: ReadonlyMap<string | undefined, number>,
  ): Promise<ClaimedJob | undefined> {
    const runningOf = ({ groupId }: StoredJob) => runningByGroup.get(groupId) ?? 0;
    for (;;) {
      // The sort is stable: among groups with the same number of running jobs, priority and age decide.
      const due = await this.#claims.nextDueByGroup(lane, minPriority);
      const [next] = due
        .filter(job => runningOf(job) < maxPerGroup)
        .sort((one, other) => runningOf(one) - runningOf(other));
      const claimed = next && (await this.#claims.claim(next.id));
      // Tries the next job: another node claimed this one first, or it was removed.
      if (next === undefined || claimed !== undefined) return claimed;
    }
  }
}

/** The minimum priority of each job that may run at once, in the order in which the lane fills. */
function minPrioritiesOf(limits: number | LaneLimits): number[] {
  const { maxRunning, reservedPriorities = [] } =
    typeof limits === 'number' ? { maxRunning: limits } : limits;
  return [...Array.from({ length: maxRunning }, () => lowestPriority), ...reservedPriorities];
}
