import type { Usage } from '../../api/api-types.ts';
import { formatBytes } from '../../format/size.ts';
import { rich, t } from '../../texts/server.ts';
import { bold } from '../../ui/bold.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { StorageBar, StorageLegend } from './storage-bar.tsx';
import { storageShares } from './storage-kinds.ts';

export function StorageCard({ storage }: { storage: Usage['storage'] }) {
  return (
    <Card title={t('usage.storage')}>
      <p class="figure">{usedText(storage)}</p>
      <StorageBar storage={storage} />
      {storageShares(storage).length === 0 ? (
        <p class="hint">{t('usage.noFiles')}</p>
      ) : (
        <StorageLegend storage={storage} />
      )}
      {storage.totalBytes >= (storage.maxBytes ?? Number.POSITIVE_INFINITY) && (
        <Notice tone="warning">{t('usage.full')}</Notice>
      )}
    </Card>
  );
}

function usedText({ totalBytes, maxBytes, measuring }: Usage['storage']) {
  const size = formatBytes(totalBytes);
  const tags = { ...bold, q: (text: string) => <span class="quiet">{text}</span> };
  if (maxBytes === undefined)
    return rich(measuring === true ? 'usage.measured' : 'usage.used', { size }, tags);
  const values = { size, limit: formatBytes(maxBytes) };
  return rich(measuring === true ? 'usage.measuredOf' : 'usage.usedOf', values, tags);
}
