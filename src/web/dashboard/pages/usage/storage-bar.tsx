import type { Usage } from '../../api/api-types.ts';
import { formatBytes } from '../../format/size.ts';
import { storageShares } from './storage-kinds.ts';

type Storage = Usage['storage'];

/** Kinds of files by size, as a share of the limit. Without a limit there is nothing to be full. The numbers are beside it. */
export function StorageBar({ storage }: { storage: Storage }) {
  const { totalBytes, maxBytes } = storage;
  if (maxBytes === undefined) return null;
  const freeBytes = Math.max(0, maxBytes - totalBytes);
  return (
    <div class="shares" aria-hidden="true">
      {storageShares(storage).map(({ name, bytes, color }) => (
        <span key={name} class={`share color-${color}`} style={{ flexGrow: bytes }} />
      ))}
      {freeBytes > 0 && <span class="share free" style={{ flexGrow: freeBytes }} />}
    </div>
  );
}

/** The largest kinds of files with their sizes, in the colors of the bar if there is one. */
export function StorageLegend({ storage, max }: { storage: Storage; max?: number }) {
  return (
    <ul class="legend">
      {storageShares(storage)
        .slice(0, max)
        .map(({ name, bytes, color }) => (
          <li key={name}>
            {storage.maxBytes !== undefined && <span class={`dot color-${color}`} aria-hidden="true" />}
            <span>{name}</span>
            <span class="number">{formatBytes(bytes)}</span>
          </li>
        ))}
    </ul>
  );
}
