/** Samples the CPU time of this thread so often; a turn of the event loop that takes longer delays the next sample. */
const sampleMs = 2;

/** Maximum time for which the event loop may be blocked, on a machine of usual speed. */
export const allowedBlockMs = 50;
/** Shorter blocks are within every limit on any machine. */
const minComparedMs = 20;
const attempts = 3;

const unitOfWork = JSON.stringify(
  Array.from({ length: 2000 }, (_, id) => ({ id, text: `cue ${id}`, times: [id, 2 * id] })),
);
const unitRuns = 100;
/** CPU time of the unit of work on a machine of usual speed. It is much longer than the 4 ms in which Linux counts. */
const usualUnitMs = 50;

/**
 * Measures how long the event loop is blocked at most, as CPU time of this thread between two looks: unlike wall time it does not grow
 * when other programs keep the machine busy.
 */
export class EventLoopBlock {
  #beforeMs = threadCpuMs();
  #maxBlockMs = 0;
  #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setTimeout(() => this.#sample(), sampleMs);
  }

  /** Ends the measurement: the most CPU milliseconds between two looks, as on a machine of usual speed. */
  stop(): number {
    this.#measure();
    clearTimeout(this.#timer);
    return this.#maxBlockMs < minComparedMs ? this.#maxBlockMs : this.#maxBlockMs / slowness();
  }

  #sample(): void {
    this.#measure();
    this.#timer = setTimeout(() => this.#sample(), sampleMs);
  }

  #measure(): void {
    const nowMs = threadCpuMs();
    this.#maxBlockMs = Math.max(this.#maxBlockMs, nowMs - this.#beforeMs);
    this.#beforeMs = nowMs;
  }
}

/**
 * The longest block of `run`, in milliseconds as of {@link EventLoopBlock.stop}. Runs it again when that is over {@link allowedBlockMs}:
 * work that blocks does so each time, while compilation and garbage collection come by chance.
 */
export async function maxBlockMsOf(run: () => unknown): Promise<number> {
  let blockedMs = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < attempts && blockedMs >= allowedBlockMs; attempt += 1) {
    const block = new EventLoopBlock();
    await run();
    blockedMs = block.stop();
  }
  return blockedMs;
}

/** Time that this machine takes for the unit of work at present, as a multiple of that of a machine of usual speed. At least 1. */
function slowness(): number {
  const startedMs = threadCpuMs();
  for (let count = 0; count < unitRuns; count += 1) JSON.parse(unitOfWork);
  return Math.max(1, (threadCpuMs() - startedMs) / usualUnitMs);
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
