/** Block size of tar archives. **Source**: POSIX.1-2017, pax, "ustar Interchange Format" */
export const blockBytes = 512;
/** The first file of a backup, which describes it. */
export const descriptionName = 'millrace-backup.json';
/** The last file of a backup: the checksums of all others, in their order. */
export const sumsName = 'SHA256SUMS';
export const formatVersion = 1;

/** Returns the padding after a file of `size` bytes. */
export function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

/** An error of a backup or restore, with a sentence for the operator. */
export class BackupError extends Error {}
