import type { FfmpegCommand } from 'fluent-ffmpeg';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { OwnedProcess } from './owned-process.ts';

interface CommandProcessOptions {
  readonly log: Logger;
  readonly ids: Readonly<Record<string, unknown>>;
  /** The launcher announces the process id on stderr. */
  readonly hasLauncher: boolean;
  readonly isIsolated: boolean;
  readonly onPid: (pid: number) => void;
  /** False for a line of the log. */
  readonly takeLine: (line: string) => boolean;
}

/** Lines of the description of the sandbox. */
const sandboxLine = /^(?:[{}]|\s+"[\w-]+": \d+,?)$/;
/** fluent-ffmpeg reports an exit as text only. */
const exitMessage = /^ffmpeg (?:exited with code (\d+)|was killed with signal (SIG\w+))/;

export class CommandProcess extends OwnedProcess {
  readonly #command: FfmpegCommand;
  readonly #options: CommandProcessOptions;
  #log: Logger;
  #pid: number | undefined;
  #hasStarted = false;
  #isSandboxDescribed = false;

  constructor(command: FfmpegCommand, options: CommandProcessOptions) {
    super(options.isIsolated);
    this.#command = command;
    this.#options = options;
    this.#log = options.log.child('ffmpeg', options.ids);
    command.on('start', () => {
      this.#hasStarted = true;
      this.pauseLate();
    });
    command.on('stderr', line => this.#read(line));
    command.on('end', () => this.finish(true, 0, null));
    command.on('error', error => {
      const [, code, signal] = exitMessage.exec(error.message) ?? [];
      if (code === undefined && signal === undefined) this.addLine(messageOf(error));
      const exitSignal = (signal as NodeJS.Signals | undefined) ?? null;
      this.finish(
        this.#hasStarted && (code ?? signal) !== undefined,
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

  /** Pausing before the launcher has become ffmpeg would keep its process id from being announced. */
  protected override get canPause(): boolean {
    return super.canPause && (this.#options.hasLauncher ? this.#pid !== undefined : this.#hasStarted);
  }

  protected sendSignal(signal: NodeJS.Signals): void {
    this.#command.kill(signal);
  }

  #read(line: string): void {
    const pid =
      this.#pid === undefined && this.#options.hasLauncher ? /^pid (\d+)$/.exec(line)?.[1] : undefined;
    if (pid !== undefined) {
      this.#pid = Number(pid);
      this.#log = this.#options.log.child('ffmpeg', { ...this.#options.ids, pid: this.#pid });
      this.#options.onPid(this.#pid);
      this.pauseLate();
    } else if (this.#isOfSandbox(line)) this.readSandbox(line);
    else if (!this.#options.takeLine(line)) this.addLine(line, this.#log);
  }

  #isOfSandbox(line: string): boolean {
    if (!this.#options.isIsolated || this.#isSandboxDescribed || !sandboxLine.test(line)) return false;
    this.#isSandboxDescribed = line === '}';
    return true;
  }
}
