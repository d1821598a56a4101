/** **Source**: POSIX.1-2017, pax, "ustar Interchange Format" */
export const blockBytes = 512;
export const descriptionName = 'millrace-backup.json';
/** Name of the last file: checksums of all others, in their order. */
export const sumsName = 'SHA256SUMS';
export const formatVersion = 1;

/** `media`: of a server whose database is PostgreSQL. */
export type BackupContents = 'all' | 'database' | 'media';

export function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

export class BackupError extends Error {}
