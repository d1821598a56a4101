import type { Usage } from '../../api/api-types.ts';
import { storageShares } from './storage-kinds.ts';

/** Kinds of files by size, as a share of the limit if there is one. The numbers are beside it. */
export function StorageBar({ storage }: { storage: Usage['storage'] }) {
  const { totalBytes, maxBytes = totalBytes } = storage;
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
