import type { Config } from '../config/settings.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Logger } from '../shared/logger.ts';
import { describeS3Location, parseS3Url } from '../shared/network/s3-url.ts';
import { DataFolderStorage } from '../storage/data-folder-storage.ts';
import type { MediaStorage } from '../storage/media-storage.ts';
import type { S3Storage } from '../storage/s3/s3-storage.ts';

export interface OpenedStorage {
  readonly media: MediaStorage;
  /** Undefined with the data folder. */
  readonly s3: S3Storage | undefined;
}

/** @throws AppError `storage-unusable` */
export async function openStorage(
  config: Config,
  dataDir: string,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Logger },
): Promise<OpenedStorage> {
  const url = config['storage.url'];
  if (url === undefined) return { media: new DataFolderStorage(dataDir), s3: undefined };
  const { openS3Storage } = await import('../storage/s3/open-s3-storage.ts');
  const s3 = await openS3Storage({
    url,
    dataDir,
    log,
    cacheBytes: config['storage.cacheSize'],
    minFreeBytes: () => config['uploads.minFree'],
    canRedirect: config['storage.redirectDownloads'],
    observer: {
      onRequest: (operation, outcome, seconds) => {
        metrics.storageRequests.inc({ operation, outcome });
        metrics.storageSeconds.observe({ operation }, seconds);
      },
      onBytes: (direction, bytes) => metrics.storageBytes.inc({ direction }, bytes),
      onCacheRead: result => metrics.storageCacheReads.inc({ result }),
    },
  });
  log.info('storage-opened', { storage: describeS3Location(parseS3Url(url.reveal())) });
  return { media: s3, s3 };
}
