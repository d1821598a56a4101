import type { Logger } from '../../shared/logger.ts';
import type { SweepReport } from './sweep-report.ts';

interface LocalLeftoversOptions {
  /** Returns the number of broadcasts. */
  readonly removeLeftoverBroadcasts: () => Promise<number>;
  /** Returns the number of backups. */
  readonly removeAbortedBackups: () => Promise<number>;
  readonly log: Logger;
}

/** Removes what this server alone can have left in its data folder. */
export class LocalLeftovers {
  readonly #options: LocalLeftoversOptions;

  constructor(options: LocalLeftoversOptions) {
    this.#options = options;
  }

  async remove(report: SweepReport): Promise<void> {
    const broadcasts = await this.#options.removeLeftoverBroadcasts();
    for (let count = 0; count < broadcasts; count += 1) report.removed('broadcast', 'live', 0);
    const backups = await this.#removeAbortedBackups();
    for (let count = 0; count < backups; count += 1) report.removed('backup', '.', 0);
  }

  /** A backup of another user cannot be removed. That does not stop the sweep. */
  async #removeAbortedBackups(): Promise<number> {
    try {
      return await this.#options.removeAbortedBackups();
    } catch (error) {
      this.#options.log.warn('backup-not-removed', {
        error,
        hint: 'when no backup is running, remove backup.lock and the folders .backup-* of the data folder as the user who ran the backup',
      });
      return 0;
    }
  }
}
