import { AppError, type ErrorCode } from '../shared/errors.ts';
import { mediaRefused } from './probe/probe-output.ts';
import type { RunResult } from './process/bounded-run.ts';
import type { ProcessExit } from './process/owned-process.ts';

const crashSignals: readonly string[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGFPE', 'SIGILL', 'SIGSYS'];
/** Sent for more processor time, or more output, than a run may need. */
const limitSignals: readonly string[] = ['SIGXCPU', 'SIGXFSZ'];

const probeRefusals: readonly (readonly [RegExp, string])[] = [
  [/Format not on whitelist/i, 'Unsupported file format. Upload a video file.'],
  [/moov atom not found/i, "This file is incomplete or isn't a video: its index is missing."],
  [
    /Invalid data found|End of file|could not find codec parameters/i,
    "This file isn't a video, or it is damaged.",
  ],
  [/Cannot allocate memory/i, 'Processing this file needs more memory than the server allows.'],
];

const machineFaults = /No such file or directory|Permission denied|Input\/output error/i;
/** Anchored where bubblewrap, and at the end ffmpeg, the shell and the loader write the reason. */
const resourceFaults =
  /^bwrap: |(?:Too many open files(?: in system)?|Resource temporarily unavailable|[Cc]annot fork|Text file busy)$/;

/** Anchored, so that texts of a file cannot imitate them. */
const diskFull =
  /^(?:\[[^\]]*\] )?(?:Could not write header|Error writing trailer|Error closing file|Error submitting a packet to the muxer|av_interleaved_write_frame\(\)).*: (?:No space left on device|Disk quota exceeded)$/;

/**
 * Creates `process-failed` with the last lines of output, where the file may be at fault; otherwise `stopped`, `disk-full`,
 * `out-of-resources` or `process-killed`.
 */
export function runFailure(program: string, { exit, exceededLimit }: RunResult): AppError {
  const { kind, code, signal, lastLines } = exit;
  const data = { code, signal, lines: lastLines, exceededLimit };
  if (kind === 'stopped' && exceededLimit === undefined) {
    return new AppError('stopped', `${program} was stopped with the server`, { details: { data } });
  }
  if (isDiskFull(exit)) {
    return new AppError('disk-full', `${program} ran out of disk space`, { details: { data } });
  }
  const failure = exceededLimit === undefined ? codeOfExit(exit) : 'process-failed';
  return new AppError(failure, `${program} ${exceededLimit ?? describeExit(exit)}`, { details: { data } });
}

/** True for work that exceeded its time, or was ended by a signal from outside: neither tells anything about the file. */
export function isInterruption(error: unknown): boolean {
  if (!(error instanceof AppError)) return error instanceof DOMException && error.name === 'TimeoutError';
  if (error.code !== 'process-failed') return false;
  const { exceededLimit, signal } = error.details.data ?? {};
  if (exceededLimit !== undefined) return true;
  return typeof signal === 'string' && ![...crashSignals, ...limitSignals].includes(signal);
}

/** The kernel kills what needs too much memory by SIGKILL. */
function codeOfExit(exit: ProcessExit): ErrorCode {
  if (exit.kind === 'not-started' || isOutOfResources(exit)) return 'out-of-resources';
  return exit.signal === 'SIGKILL' ? 'process-killed' : 'process-failed';
}

function isOutOfResources({ lastLines }: ProcessExit): boolean {
  return lastLines.some(line => resourceFaults.test(line));
}

/** True if ffmpeg could not write its output. Version 5.1 exits with 0 when only the last write failed. */
export function isDiskFull({ lastLines }: Pick<ProcessExit, 'lastLines'>): boolean {
  return lastLines.some(line => diskFull.test(line));
}

export function oversizedFrame({ lastLines }: Pick<ProcessExit, 'lastLines'>): [number, number] | undefined {
  for (const line of lastLines) {
    const found = /Picture size (\d+)x(\d+) exceeds specified max pixel count/.exec(line);
    if (found !== null) return [Number(found[1]), Number(found[2])];
  }
  return undefined;
}

/** Undefined where the file is not at fault. */
export function probeRefusal({ exit, exceededLimit }: RunResult): AppError | undefined {
  if (exceededLimit !== undefined || exit.kind !== 'failed') return undefined;
  if (isOutOfResources(exit)) return undefined;
  const output = exit.lastLines.join('\n');
  const data = { lines: exit.lastLines };
  if (exit.signal !== null) {
    const isCrash = crashSignals.includes(exit.signal);
    return isCrash ? mediaRefused('This file is too damaged to be read.', data) : undefined;
  }
  const known = probeRefusals.find(([pattern]) => pattern.test(output));
  if (known !== undefined) return mediaRefused(known[1], data);
  return machineFaults.test(output)
    ? undefined
    : mediaRefused("This file isn't a video that can be read.", data);
}

function describeExit({ kind, code, signal, lastLines }: ProcessExit): string {
  const last = lastLines.at(-1);
  const suffix = last === undefined ? '' : `: ${last}`;
  if (kind === 'not-started') return `did not start${suffix}`;
  if (signal === 'SIGXFSZ') return 'wrote a larger file than it may';
  return signal === null ? `ended with code ${code}${suffix}` : `was ended by ${signal}${suffix}`;
}
