import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { waitUntil } from './wait-until.ts';

/** An X server without a screen. The caller ends its process. */
export interface Screen {
  readonly process: ChildProcess;
  /** Value of the environment variable `DISPLAY`. */
  readonly display: string;
}

/** Starts Xvfb on a display that is free. */
export async function openScreen(): Promise<Screen> {
  const child = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let display = '';
  child.stdout.on('data', text => (display += text));
  try {
    await waitUntil(() => display.endsWith('\n'), { what: 'a screen' });
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { process: child, display: `:${display.trim()}` };
}

/** Kills programs, the last one first, and waits until they have ended. */
export async function killAll(processes: readonly ChildProcess[]): Promise<void> {
  for (const child of processes.toReversed()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = new Promise(resolve => child.once('close', resolve));
    child.kill('SIGKILL');
    await ended;
  }
}

/** Tells whether a program is installed. */
export function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}
