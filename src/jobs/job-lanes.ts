import type { Clock } from '../shared/clock.ts';
import type { LaneLimits } from './job.ts';
import type { ClaimedJob, JobClaimStore } from './job-claims.store.ts';
import type { StoredJob } from './job-rows.ts';
import type { RunningAttempts } from './running-attempts.ts';

export type ClaimJob = () => Promise<ClaimedJob | undefined>;

const lowestPriority = Number.MIN_SAFE_INTEGER;
const maxRememberedGroups = 10_000;

type BeginJob = (claim: ClaimJob) => Promise<StoredJob | undefined>;

/** Selects the jobs that this node starts: each lane has room for some. */
export class JobLanes {
  readonly #limits: ReadonlyMap<string, number | LaneLimits>;
  readonly #claims: JobClaimStore;
  readonly #running: RunningAttempts;
  readonly #clock: Clock;
  /** Groups by lane, with the number of their last start. */
  readonly #starts = new Map<string, number>();
  #startCount = 0;

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
    // One query for all lanes, of which most have nothing to do.
    const firstInMs = await this.#claims.firstDueInMs();
    for (const [lane, limits] of this.#limits) {
      const inMs = firstInMs.get(lane) ?? Number.POSITIVE_INFINITY;
      if (inMs > 0) {
        nextInMs = Math.min(nextInMs, inMs);
        continue;
      }
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
    const priorities = running.map(({ job }) => job.priority ?? 0);
    if (minPriorityOfNext(limits, priorities) === undefined) return false;
    const runningByGroup = new Map<string | undefined, number>();
    const count = ({ groupId }: StoredJob) =>
      runningByGroup.set(groupId, (runningByGroup.get(groupId) ?? 0) + 1);
    for (const { job } of running) count(job);
    for (;;) {
      const minPriority = minPriorityOfNext(limits, priorities);
      if (minPriority === undefined || !isStarting()) break;
      const begun = await begin(() =>
        typeof limits === 'number'
          ? this.#claims.claimNext({ lane })
          : this.#claimOfGroups({ lane, maxPerGroup: limits.maxPerGroup, minPriority }, runningByGroup),
      );
      if (begun === undefined) break;
      count(begun);
      priorities.push(begun.priority ?? 0);
      this.#rememberStart(lane, begun);
    }
    return true;
  }

  #rememberStart(lane: string, job: StoredJob): void {
    const key = startKey(lane, job);
    this.#starts.delete(key);
    this.#startCount += 1;
    this.#starts.set(key, this.#startCount);
    if (this.#starts.size > maxRememberedGroups) this.#starts.delete(this.#starts.keys().next().value!);
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
    const lastStartOf = (job: StoredJob) => this.#starts.get(startKey(lane, job)) ?? 0;
    for (;;) {
      // Among groups with the same number of running jobs, priority decides, then whose turn it is, then age.
      const due = await this.#claims.nextDueByGroup(lane, minPriority);
      const [next] = due
        .filter(job => runningOf(job) < maxPerGroup)
        .sort(
          (one, other) =>
            runningOf(one) - runningOf(other) ||
            (other.priority ?? 0) - (one.priority ?? 0) ||
            lastStartOf(one) - lastStartOf(other),
        );
      const claimed = next && (await this.#claims.claim(next.id));
      // Tries the next job: another node claimed this one first, or it was removed.
      if (next === undefined || claimed !== undefined) return claimed;
    }
  }
}

/**
 * The lowest priority that the next job may have; undefined in a full lane. Running jobs take the reserved places that they
 * may have, so that the others are left for any job: short work of one project never keeps long work of another waiting.
 */
function minPriorityOfNext(
  limits: number | LaneLimits,
  runningPriorities: readonly number[],
): number | undefined {
  const { maxRunning, reservedPriorities = [] } =
    typeof limits === 'number' ? { maxRunning: limits } : limits;
  const free = [...Array.from({ length: maxRunning }, () => lowestPriority), ...reservedPriorities];
  for (const priority of runningPriorities.toSorted((one, other) => other - one)) {
    const place = free.findLastIndex(minPriority => priority >= minPriority);
    // More may run than there are places, after a start with other settings.
    free.splice(place === -1 ? 0 : place, 1);
  }
  return free[0];
}

function startKey(lane: string, { groupId }: StoredJob): string {
  return `${lane} ${groupId ?? ''}`;
}
