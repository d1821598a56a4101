import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The exit code and the output of a command. */
export interface CommandResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** A command that runs. */
export interface RunningCommand {
  readonly child: ChildProcess;
  readonly ended: Promise<CommandResult>;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Starts a command such as `npm run backup` as a process of its own.
 *
 * @param options `isPaused`: its output is read only once `child.stdout.resume()` is called, so that it waits when the pipe is full.
 * `hasInput`: the caller writes to `child.stdin`. `uid`: the user that it runs as
 */
export function startCommand(
  name: 'backup' | 'restore' | 'database' | 'storage' | 'account' | 'drain' | 'doctor',
  args: readonly string[],
  options: {
    readonly isPaused?: boolean;
    readonly hasInput?: boolean;
    readonly uid?: number;
    readonly env?: Record<string, string>;
  } = {},
): RunningCommand {
  const child = spawn(process.execPath, ['bin/millrace.cjs', name, ...args], {
    cwd: root,
    uid: options.uid,
    env: { ...process.env, ...options.env },
    stdio: [options.hasInput === true ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  const pieces: Buffer[] = [];
  let stderr = '';
  child.stdout!.on('data', (piece: Buffer) => pieces.push(piece));
  if (options.isPaused === true) child.stdout!.pause();
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const { promise: ended, resolve } = Promise.withResolvers<CommandResult>();
  child.once('close', (code, signal) => resolve({ code, signal, stdout: Buffer.concat(pieces), stderr }));
  return { child, ended };
}

/** Runs one to its end. */
export function runCommand(
  name: 'backup' | 'restore' | 'database' | 'storage' | 'account' | 'drain' | 'doctor',
  ...args: string[]
): Promise<CommandResult> {
  return startCommand(name, args).ended;
}
