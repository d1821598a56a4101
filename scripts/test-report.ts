/** The outcome of one test file, in one project. */
export interface FileOutcome {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Failed tests with their errors, and other reasons, empty when the file passed. */
  readonly problems: readonly string[];
  /** Absent for a file that did not end. */
  readonly cost?: FileCost;
}

/** The time that a test file took. */
interface FileCost {
  readonly project: string;
  /** Seconds from the start of its process to its end. */
  readonly seconds: number;
  /** Used by its process and all that it started; absent where no `/proc` tells. */
  readonly cpuSeconds?: number | undefined;
}

/** Projects that run files of others once more, and the end of the names of those runs. */
const repeats = [
  { projects: 'postgres*', end: ' on PostgreSQL' },
  { projects: 'usual-leases', end: ' with the usual leases' },
  { projects: 'uploads-found', end: " with the machine's programs" },
  { projects: 'all-builds', end: ' with all builds of ffmpeg' },
];

/** Names one run of a test file. */
export function nameOfRun(path: string, project: string): string {
  return path + (repeats.find(({ projects }) => project.startsWith(projects.replace('*', '')))?.end ?? '');
}

/** The arguments of vitest that repeat the run with this name. */
export function argumentsOfRun(name: string): string[] {
  const repeat = repeats.find(({ end }) => name.endsWith(end));
  if (repeat === undefined) return [...repeats.map(({ projects }) => `--project=!${projects}`), name];
  return [`--project=${repeat.projects}`, name.slice(0, -repeat.end.length)];
}

/** The lines of a report: the reporter appends each as it happens, so that a killed run leaves the lines until then. */
export type ReportLine =
  | { readonly type: 'start'; readonly files: readonly string[] }
  | { readonly type: 'file'; readonly outcome: FileOutcome }
  | {
      readonly type: 'end';
      readonly errors: readonly UnhandledError[];
      /** Used by the run as a whole. */
      readonly seconds?: number;
      /** Used by the whole machine, whatever it did beside the tests. */
      readonly machineCpuSeconds?: number;
    };

/** An error outside of any test; `file` is absent when nothing tells which file caused it. */
interface UnhandledError {
  readonly file?: string | undefined;
  readonly message: string;
}

/** The outcome of a run: `errors` are the failures that belong to no file. */
export interface RunOutcome {
  readonly files: readonly FileOutcome[];
  readonly errors: readonly string[];
}

/** Totals of a run and its repeats. */
export interface RepeatedOutcome extends RunOutcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The first outcomes of the files that failed, then passed alone. */
  readonly flaky: readonly FileOutcome[];
}

/** Limits of the repeats. */
interface RepeatLimits {
  /** Failed files above which none is repeated: the change is at fault, not the machine. */
  readonly maxFiles: number;
  readonly maxFileMs: number;
  readonly maxTotalMs: number;
}

/**
 * Reads the report of one run. A file that never ended (a crash, a hang, a killed run) has failed, and so has one with
 * an unhandled error.
 *
 * @param text lines of JSON, the last of them possibly cut short
 * @param exitCode how the run ended: a bad end that no file explains is an error of its own
 */
export function readReport(text: string, exitCode: number): RunOutcome {
  const lines = text.split('\n').flatMap(parseLine);
  const ended = new Map(
    lines.flatMap(line => (line.type === 'file' ? [[line.outcome.file, line.outcome] as const] : [])),
  );
  const expected = lines.flatMap(line => (line.type === 'start' ? line.files : []));
  const names = new Set([...expected, ...ended.keys()]);
  const unhandled = lines.flatMap(line => (line.type === 'end' ? line.errors : []));
  const files = [...names].map(file => {
    const outcome = ended.get(file) ?? { ...emptyOutcome, file, problems: ['the file did not end'] };
    const errors = unhandled.filter(error => error.file === file).map(({ message }) => message);
    return withFailure({ ...outcome, problems: [...outcome.problems, ...errors] });
  });
  // The error of a crashed worker names no file, but leaves its file without an end.
  const isExplained = (error: UnhandledError) =>
    names.has(error.file ?? '') || expected.some(file => !ended.has(file));
  const errors = unhandled.filter(error => !isExplained(error)).map(({ message }) => message);
  if (files.every(outcome => isPassed(outcome) && outcome.passed === 0)) errors.push('no test passed');
  if (exitCode !== 0 && errors.length === 0 && files.every(isPassed)) {
    errors.push(`the run ended with ${exitCode}, although all files passed`);
  }
  return { files, errors };
}

/**
 * Runs each failed file once more, alone, and counts it by how that ended. Failures that belong to no file stay.
 *
 * @param repeat runs one file and gives its outcome
 */
export async function repeatFailed(
  first: RunOutcome,
  limits: RepeatLimits,
  repeat: (file: string, timeoutMs: number) => Promise<RunOutcome>,
): Promise<RepeatedOutcome> {
  const failed = first.files.filter(outcome => !isPassed(outcome));
  const isWorthIt = first.errors.length === 0 && failed.length <= limits.maxFiles;
  const last = new Map(first.files.map(outcome => [outcome.file, outcome]));
  const flaky: FileOutcome[] = [];
  let leftMs = limits.maxTotalMs;
  for (const outcome of isWorthIt ? failed : []) {
    if (leftMs <= 0) break;
    const startedMs = performance.now();
    const { files, errors } = await repeat(outcome.file, Math.min(limits.maxFileMs, leftMs));
    leftMs -= performance.now() - startedMs;
    const repeated = files.find(({ file }) => file === outcome.file) ?? outcome;
    const again = withFailure({ ...repeated, problems: [...repeated.problems, ...errors] });
    last.set(outcome.file, again);
    if (isPassed(again)) flaky.push(outcome);
  }
  const files = [...last.values()];
  const sum = (kind: 'passed' | 'failed' | 'skipped') =>
    files.reduce((total, outcome) => total + outcome[kind], 0);
  return {
    files,
    errors: first.errors,
    passed: sum('passed'),
    failed: sum('failed') + first.errors.length,
    skipped: sum('skipped'),
    flaky,
  };
}

/** Describes the outcome in lines for people: totals, then what failed, then what is flaky. */
export function describeOutcome(outcome: RepeatedOutcome): string[] {
  const { passed, failed, skipped, errors, files, flaky } = outcome;
  const line = (kind: string, { file, problems }: FileOutcome) =>
    `${kind}: ${file} (${problems.map(firstLine).join('; ')})`;
  return [
    `tests: ${passed} passed, ${failed} failed, ${skipped} skipped`,
    ...errors.map(error => `failed: ${firstLine(error)}`),
    ...files.filter(file => !isPassed(file)).map(file => line('failed', file)),
    ...flaky.map(file => line('flaky', file)),
  ];
}

const maxListedFiles = 20;

/** Describes what the files of a run cost: each project, then the most expensive files. */
export function describeCosts(text: string): string[] {
  const lines = text.split('\n').flatMap(parseLine);
  const costs = lines.flatMap(line =>
    line.type === 'file' && line.outcome.cost !== undefined
      ? [{ ...line.outcome.cost, file: line.outcome.file }]
      : [],
  );
  const total = (of: readonly FileCost[], kind: 'seconds' | 'cpuSeconds') =>
    of.reduce((sum, cost) => sum + (cost[kind] ?? 0), 0);
  const row = (of: readonly FileCost[], name: string) =>
    `${total(of, 'cpuSeconds').toFixed(0).padStart(6)} ${total(of, 'seconds').toFixed(0).padStart(8)}  ${name}`;
  const projects = [...Map.groupBy(costs, ({ project }) => project)].map(([project, of]) =>
    row(of, `${project} (${of.length} files)`),
  );
  const files = costs
    .toSorted((a, b) => total([b], 'cpuSeconds') - total([a], 'cpuSeconds') || b.seconds - a.seconds)
    .slice(0, maxListedFiles);
  const ends = lines.flatMap(line => (line.type === 'end' ? [line] : []));
  return [
    ' CPU s  seconds',
    ...projects,
    ...files.map(cost => row([cost], `${cost.file} (${cost.project})`)),
    ...ends.map(
      ({ seconds = 0, machineCpuSeconds = 0 }) =>
        `The run took ${seconds.toFixed(0)} s; the machine worked ${machineCpuSeconds.toFixed(0)} CPU s meanwhile.`,
    ),
  ];
}

const maxLineLength = 400;
const emptyOutcome = { passed: 0, failed: 0, skipped: 0 };

function isPassed({ failed, problems }: FileOutcome): boolean {
  return failed === 0 && problems.length === 0;
}

/** Counts a file that failed without a failed test as one failure. */
function withFailure(outcome: FileOutcome): FileOutcome {
  return { ...outcome, failed: Math.max(outcome.failed, outcome.problems.length > 0 ? 1 : 0) };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!.slice(0, maxLineLength);
}

function parseLine(line: string): ReportLine[] {
  try {
    return [JSON.parse(line) as ReportLine];
  } catch {
    return [];
  }
}
