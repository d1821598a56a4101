import { type ChildProcess, spawn } from 'node:child_process';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';

/** Reads `+ PID` and `- PID`, and kills the remaining processes when its input ends with the server. */
const script = `
trap '' INT TERM HUP
left=' '
while read -r change pid; do
  case "$change" in
    +) left="$left$pid " ;;
    -) case "$left" in *" $pid "*) left="\${left%% $pid *} \${left#* $pid }" ;; esac ;;
  esac
done
for pid in $left; do kill -KILL "$pid"; done
`;

export class OrphanReaper {
  readonly #shell: string;
  readonly #log: Logger;
  #process: ChildProcess | undefined;

  constructor(shell: string, log: Logger) {
    this.#shell = shell;
    this.#log = log;
  }

  watch(pid: number, ended: Promise<unknown>): void {
    const reaper = this.#running();
    reaper.stdin?.write(`+ ${pid}\n`);
    void ended.then(() => reaper.stdin?.write(`- ${pid}\n`));
  }

  #running(): ChildProcess {
    if (this.#process !== undefined) return this.#process;
    const child = spawn(this.#shell, ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], env: {} });
    const gone = (reason: string) => {
      if (this.#process === child) this.#process = undefined;
      this.#log.warn('orphan-reaper-gone', { reason });
    };
    child.on('error', error => gone(messageOf(error)));
    child.on('exit', (code, signal) => gone(`code ${code}, signal ${signal}`));
    child.stdin?.on('error', error => this.#log.debug('pipe-error', { error: messageOf(error) }));
    // Keeps neither the server nor a test running.
    child.unref();
    (child.stdin as unknown as { unref?(): void } | null)?.unref?.();
    this.#process = child;
    return child;
  }
}
