import { silentLogger } from '../../src/shared/logger.ts';
import { Secret } from '../../src/shared/secret.ts';
import { type OpenS3StorageOptions, openS3Storage } from '../../src/storage/s3/open-s3-storage.ts';
import type { S3Storage } from '../../src/storage/s3/s3-storage.ts';

/** Opens storage as the server does, with a cache of 64 MiB. */
export function openTestS3Storage({
  url,
  ...options
}: { readonly url: string; readonly dataDir: string } & Partial<
  Omit<OpenS3StorageOptions, 'url' | 'dataDir'>
>): Promise<S3Storage> {
  return openS3Storage({
    url: new Secret(url),
    cacheBytes: 64 * 1024 ** 2,
    minFreeBytes: () => 0,
    canRedirect: false,
    log: silentLogger,
    ...options,
  });
}
