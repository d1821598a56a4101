import type { Usage } from '../../api/api-types.ts';

interface StorageShare {
  readonly name: string;
  readonly bytes: number;
  readonly color: number;
}

export function storageShares(storage: Usage['storage']): readonly StorageShare[] {
  const shares: readonly StorageShare[] = [
    { name: 'Uploads', bytes: storage.sourceBytes, color: 2 },
    { name: 'Recordings', bytes: storage.recordingBytes, color: 3 },
    { name: 'Renditions', bytes: storage.hlsBytes, color: 1 },
    { name: 'MP4 downloads', bytes: storage.mp4Bytes, color: 6 },
    { name: 'Thumbnails and captions', bytes: storage.imageBytes + storage.textBytes, color: 4 },
  ];
  return shares.filter(({ bytes }) => bytes > 0);
}
