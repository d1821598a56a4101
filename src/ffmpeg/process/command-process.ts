import type { FfmpegCommand } from 'fluent-ffmpeg';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { OwnedProcess } from './owned-process.ts';

interface CommandProcessOptions {
  readonly log: Logger;
  readonly ids: Readonly<Record<string, unknown>>;
  /** The launcher announces the process id on stderr. */
  readonly hasLauncher: boolean;
  readonly onPid: (pid: number) => void;
  /** False for a line of the log. */
  readonly takeLine: (line: string) => boolean;
}

/** fluent-ffmpeg reports an exit as text only. */
const exitMessage = /^ffmpeg (?:exited with code (\d+)|was killed with signal (SIG\w+))/;

export class CommandProcess extends OwnedProcess {
  readonly #command: FfmpegCommand;
  readonly #options: CommandProcessOptions;
  #log: Logger;
  #pid: number | undefined;
  /** Pausing before the launcher has become ffmpeg would keep its process id from being announced. */
  #canPause = false;

  constructor(command: FfmpegCommand, options: CommandProcessOptions) {
    super();
    this.#command = command;
    this.#options = options;
    this.#log = options.log.child('ffmpeg', options.ids);
    let hasStarted = false;
    command.on('start', () => {
      hasStarted = true;
      if (!options.hasLauncher) this.#allowPausing();
    });
    command.on('stderr', line => this.#read(line));
    command.on('end', () => this.finish(true, 0, null));
    command.on('error', error => {
      const [, code, signal] = exitMessage.exec(error.message) ?? [];
      if (code === undefined && signal === undefined) this.addLine(messageOf(error));
      const exitSignal = (signal as NodeJS.Signals | undefined) ?? null;
      this.finish(
        hasStarted && (code ?? signal) !== undefined,
        code === undefined ? null : Number(code),
        exitSignal,
      );
    });
    try {
      command.run();
    } catch (error) {
      this.addLine(messageOf(error));
      this.finish(false, null, null);
    }
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  protected sendSignal(signal: NodeJS.Signals): void {
    if (signal !== 'SIGSTOP' || this.#canPause) this.#command.kill(signal);
  }

  #read(line: string): void {
    const pid =
      this.#pid === undefined && this.#options.hasLauncher ? /^pid (\d+)$/.exec(line)?.[1] : undefined;
    if (pid !== undefined) {
      this.#pid = Number(pid);
      this.#log = this.#options.log.child('ffmpeg', { ...this.#options.ids, pid: this.#pid });
      this.#options.onPid(this.#pid);
      this.#allowPausing();
    } else if (!this.#options.takeLine(line)) this.addLine(line, this.#log);
  }

  #allowPausing(): void {
    this.#canPause = true;
    if (this.isPaused) this.sendSignal('SIGSTOP');
  }
}
