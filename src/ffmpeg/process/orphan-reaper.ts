import { type ChildProcess, spawn } from 'node:child_process';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';

/** Reads `+ PID` and `- PID`, and kills the remaining processes when its input ends with the server. */
const orphanScript = `
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

/** Reads a name, and when its input ends with the server, kills processes with the name among their words until there are none. */
const sandboxScript = `
trap '' INT TERM HUP
read -r name
read -r rest
quiet=0
while [ "$quiet" -lt 3 ]; do
  quiet=$((quiet + 1))
  for file in $(echo "$name" | grep -laFf - /proc/[0-9]*/cmdline 2>/dev/null); do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/cmdline}" && quiet=0
  done
  sleep 1
done
`;

/** A shell that outlives the server, if that is killed. */
abstract class Reaper {
  readonly #shell: string;
  readonly #script: string;
  readonly #log: Logger;
  #process: ChildProcess | undefined;

  constructor(shell: string, script: string, log: Logger) {
    this.#shell = shell;
    this.#script = script;
    this.#log = log;
  }

  protected get running(): ChildProcess {
    if (this.#process !== undefined) return this.#process;
    const child = spawn(this.#shell, ['-c', this.#script], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
      // Whatever kills the process group of the server leaves it alone.
      detached: true,
    });
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
    this.started(child);
    return child;
  }

  protected started(_child: ChildProcess): void {}
}

/** Ends children where the kernel does not. */
export class OrphanReaper extends Reaper {
  constructor(shell: string, log: Logger) {
    super(shell, orphanScript, log);
  }

  watch(pid: number, ended: Promise<unknown>): void {
    const { stdin } = this.running;
    stdin?.write(`+ ${pid}\n`);
    void ended.then(() => stdin?.write(`- ${pid}\n`));
  }
}

/** Ends sandboxes that were not finished when the server was killed: bubblewrap ties only finished ones to it. */
export class SandboxReaper extends Reaper {
  readonly #name: string;

  constructor(shell: string, name: string, log: Logger) {
    super(shell, sandboxScript, log);
    this.#name = name;
  }

  ensureRunning(): void {
    void this.running;
  }

  protected override started({ stdin }: ChildProcess): void {
    stdin?.write(`${this.#name}\n`);
  }
}
