import type { Usage } from '../../api/api-types.ts';
import { t } from '../../texts/overview.ts';

interface StorageShare {
  readonly name: string;
  readonly bytes: number;
  readonly color: number;
}

/** Kinds of files that there are, the largest first. */
export function storageShares(storage: Usage['storage']): readonly StorageShare[] {
  const shares: readonly StorageShare[] = [
    { name: t('storage.uploads'), bytes: storage.sourceBytes, color: 2 },
    { name: t('storage.recordings'), bytes: storage.recordingBytes, color: 3 },
    { name: t('storage.renditions'), bytes: storage.hlsBytes, color: 1 },
    { name: t('storage.downloads'), bytes: storage.mp4Bytes, color: 6 },
    { name: t('storage.texts'), bytes: storage.imageBytes + storage.textBytes, color: 4 },
  ];
  return shares.filter(({ bytes }) => bytes > 0).toSorted((one, other) => other.bytes - one.bytes);
}
