import libraryLogger from 'node-media-server/src/core/logger.js';
import type { Logger } from '../../shared/logger.ts';
import { maskStreamKey } from '../../shared/secret.ts';

/** Redirects node-media-server's log to `log`, at debug level. One logger per process: the last call wins. */
export function redirectLibraryLog(log: Logger): void {
  libraryLogger.level = 'trace';
  libraryLogger.log = (message, level = 'info') => {
    log.debug('library-log', { level, message: maskKeys(String(message)) });
  };
}

/** Masks every word that is long enough to be a stream key. */
function maskKeys(text: string): string {
  return text.replace(/[\w-]{12,}/g, maskStreamKey);
}
