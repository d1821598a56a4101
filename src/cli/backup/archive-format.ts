/** Everything in a tar archive begins at a multiple of this. **Source**: POSIX.1-2017, pax, "ustar Interchange Format" */
export const blockBytes = 512;
/** The first file of a backup: what it is. */
export const descriptionName = 'millrace-backup.json';
/** The last file of a backup: the sums of all others, in their order. */
export const sumsName = 'SHA256SUMS';
/** The only version of the format so far. */
export const formatVersion = 1;

/** Bytes that fill the last block of a file. */
export function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

/** The backup or its reading is at fault, in a sentence for the operator. */
export class BackupError extends Error {}
