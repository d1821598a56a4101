import libraryLogger from 'node-media-server/src/core/logger.js';
import type { Logger } from '../../shared/logger.ts';
import { maskStreamKey } from '../../shared/secret.ts';

/**
 * Sends what node-media-server logs to `log` at debug level; by itself it would print to the console.
 * It has one logger a process: the last call counts.
 */
export function redirectLibraryLog(log: Logger): void {
  libraryLogger.level = 'trace';
  libraryLogger.log = (message, level = 'info') => {
    log.debug('library-said', { level, message: maskKeys(String(message)) });
  };
}

/** Masks every word that is long enough to be a stream key. */
function maskKeys(text: string): string {
  return text.replace(/[\w-]{12,}/g, maskStreamKey);
}
