import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, messageOf } from '../../shared/errors.ts';
import { silentLogger } from '../../shared/logger.ts';
import { environmentOf, findExecutables, type StartedProgram } from '../build/find-build.ts';
import type { EnvironmentVariables } from './child-environment.ts';
import { type ChildAccess, Isolation, type IsolationVariant } from './isolation.ts';
import { ProcessOwner } from './owned-process.ts';
import type { ProcessLimits } from './process-limits.ts';

interface TestedProgram extends StartedProgram {
  readonly name: 'ffmpeg' | 'ffprobe';
}

interface FindIsolationOptions {
  readonly setting: 'auto' | 'required' | 'off';
  readonly limits: ProcessLimits;
  /** The server runs them. */
  readonly programs: readonly TestedProgram[];
  readonly dataDir: string;
  readonly inWorkFolder: <Result>(work: (folder: string) => Promise<Result>) => Promise<Result>;
  readonly variables: EnvironmentVariables;
}

export interface FoundIsolation {
  readonly limits: ProcessLimits;
  /** Undefined in the sandbox; otherwise why there is none, and what to do. */
  readonly missing: string | undefined;
}

const manual = 'see "Isolation" in docs/operating.md';
const testTimeoutMs = 30_000;
const testLimits = { memoryBytes: 512 * 1024 ** 2, cpuSeconds: 60, outputBytes: 1024 ** 2 };
const testNiceness = 1;
const testFrame = 'grey';
const testInput = ['-v', 'error', '-f', 'rawvideo', '-pixel_format', 'gray', '-video_size', '2x2'];
/** The strictest first. */
const variants: readonly IsolationVariant[] = [
  { isStrict: true, hasProc: true },
  { isStrict: false, hasProc: true },
  { isStrict: true, hasProc: false },
  { isStrict: false, hasProc: false },
];

/**
 * Runs each program in a sandbox once, to find out whether that works here. @throws AppError `isolation-unusable` where it is
 * required and does not
 */
export async function findIsolation(options: FindIsolationOptions): Promise<FoundIsolation> {
  const { setting, limits } = options;
  if (setting === 'off') return { limits, missing: 'it is turned off by the setting ffmpeg.isolation' };
  const found = await find(options);
  if (typeof found !== 'string') return { limits: found, missing: undefined };
  if (setting === 'auto') return { limits, missing: found };
  throw new AppError(
    'isolation-unusable',
    `ffmpeg.isolation: it is required, but ${found}. To start without isolation, set MILLRACE_FFMPEG_ISOLATION=auto.`,
  );
}

/** Returns the reason where it does not work. */
async function find(options: FindIsolationOptions): Promise<ProcessLimits | string> {
  const { limits, programs, dataDir, variables } = options;
  if (process.platform !== 'linux') return 'bubblewrap exists for Linux only';
  const [bwrapPath] = await findExecutables('bwrap', variables.PATH);
  if (bwrapPath === undefined)
    return `bubblewrap is not installed: install it (the package is called bubblewrap), and ${manual}`;
  let reason = '';
  for (const variant of variants) {
    const isolated = limits.within(new Isolation({ bwrapPath, variant, dataDir, variables }));
    if (isolated === undefined) return '/bin/sh, which starts ffmpeg in a sandbox, cannot be used';
    const results = await options.inWorkFolder(folder =>
      Promise.all(programs.map((program, index) => test(program, isolated, join(folder, String(index))))),
    );
    const failure = results.find(result => result !== undefined);
    if (failure === undefined) return isolated;
    // Keeps the reason of the last variant, which needs the least.
    reason = failure;
  }
  return `${bwrapPath} cannot run it here (${reason}): ${manual}`;
}

/** Undefined if it works, else the reason. */
async function test(
  program: TestedProgram,
  limits: ProcessLimits,
  place: string,
): Promise<string | undefined> {
  const { name, path } = program;
  const input = `${place}-input`;
  const output = `${place}-output`;
  const isWriting = name === 'ffmpeg';
  try {
    await writeFile(input, testFrame);
    await (await open(output, 'w')).close();
    const access = { reads: [input], writes: [output] };
    const args = isWriting
      ? ['-i', `file:${input}`, '-f', 'rawvideo', '-y', `file:${output}`]
      : [`file:${input}`];
    const failure = await run(program, limits, access, [...testInput, ...args]);
    if (failure !== undefined) return failure;
    if (!isWriting || (await readFile(output, 'latin1')) === testFrame) return undefined;
    return `${path} wrote nothing to ${output}`;
  } catch (error) {
    return messageOf(error);
  }
}

async function run(
  program: TestedProgram,
  limits: ProcessLimits,
  access: ChildAccess,
  args: readonly string[],
): Promise<string | undefined> {
  const child = new ProcessOwner(limits, silentLogger).start(program.path, args, {
    outputs: 0,
    hasStdout: true,
    limits: testLimits,
    access,
    niceness: testNiceness,
    ids: {},
    ...environmentOf(program),
  });
  child.output(1).resume();
  const timer = setTimeout(() => void child.kill(), testTimeoutMs);
  const { kind, code, signal, lastLines } = await child.exited;
  clearTimeout(timer);
  if (kind === 'ended') return undefined;
  if (kind === 'stopped') return `${program.path} did not end in ${testTimeoutMs / 1000} s`;
  return lastLines.at(-1) ?? `${program.path} ended with ${signal ?? code}`;
}
