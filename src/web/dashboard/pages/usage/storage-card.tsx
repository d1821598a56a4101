import type { Usage } from '../../api/api-types.ts';
import { formatBytes } from '../../format/size.ts';
import { Notice } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { StorageBar } from './storage-bar.tsx';
import { storageShares } from './storage-kinds.ts';

export function StorageCard({ storage }: { storage: Usage['storage'] }) {
  const shares = storageShares(storage);
  return (
    <Card title="Storage">
      <p class="figure">
        <strong>{formatBytes(storage.totalBytes)}</strong> <span class="quiet">{usedText(storage)}</span>
      </p>
      <StorageBar storage={storage} />
      {shares.length === 0 ? (
        <p class="hint">No files yet.</p>
      ) : (
        <ul class="legend">
          {shares.map(({ name, bytes, color }) => (
            <li key={name}>
              <span class={`dot color-${color}`} aria-hidden="true" />
              <span>{name}</span>
              <span class="number">{formatBytes(bytes)}</span>
            </li>
          ))}
        </ul>
      )}
      {storage.totalBytes >= (storage.maxBytes ?? Number.POSITIVE_INFINITY) && (
        <Notice tone="warning">
          You have reached the storage limit: uploads are refused, and broadcasts are not recorded. Delete
          videos, or ask the operator for more.
        </Notice>
      )}
    </Card>
  );
}

function usedText({ maxBytes, measuring }: Usage['storage']): string {
  const limit = maxBytes === undefined ? '' : ` of ${formatBytes(maxBytes)}`;
  return measuring === true ? `measured so far${limit}` : `used${limit}`;
}
