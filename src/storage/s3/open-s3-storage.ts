import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { S3Client } from '@aws-sdk/client-s3';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { describeS3Location, parseS3Url, type S3Location } from '../../shared/network/s3-url.ts';
import type { Secret } from '../../shared/secret.ts';
import { S3Fault } from './s3-fault.ts';
import { S3Objects } from './s3-objects.ts';
import { type S3Observer, S3Requests } from './s3-requests.ts';
import { S3Storage } from './s3-storage.ts';
import { StorageCache } from './storage-cache.ts';

const maxConnections = 64;
const connectTimeoutMs = 5_000;
/** The S3 server may start at the same time. */
const usualStartPatienceMs = 15_000;
const startRetryMs = 1_000;
/** Clock skew above which the operator is warned. S3 rejects 15 minutes. */
const maxClockSkewMs = 240_000;

interface ConnectS3Options {
  readonly url: Secret;
  /** Time for the S3 server to start. */
  readonly startPatienceMs?: number;
  readonly observer?: S3Observer;
  readonly log: Logger;
}

export interface OpenS3StorageOptions extends ConnectS3Options {
  readonly dataDir: string;
  readonly cacheBytes: number;
  /** The cache leaves this much free on the disk. */
  readonly minFreeBytes: () => number;
  readonly canRedirect: boolean;
}

/** @throws AppError `storage-unusable` */
export async function openS3Storage(options: OpenS3StorageOptions): Promise<S3Storage> {
  const { dataDir, observer, log } = options;
  const { objects, location } = await connectS3(options);
  try {
    const cache = await StorageCache.open({
      folder: join(dataDir, 'cache'),
      bucketId: idOf(location),
      log,
      maxBytes: options.cacheBytes,
      minFreeBytes: options.minFreeBytes,
    });
    const { prefix } = location;
    const { canRedirect } = options;
    return new S3Storage({ root: dataDir, objects, prefix, cache, canRedirect, observer });
  } catch (error) {
    objects.stop();
    throw error;
  }
}

/** Connects to the bucket, and tries to write to it. @throws AppError `storage-unusable` */
export async function connectS3(
  options: ConnectS3Options,
): Promise<{ readonly objects: S3Objects; readonly location: S3Location }> {
  const { url, observer, log, startPatienceMs = usualStartPatienceMs } = options;
  const location = parseS3Url(url.reveal());
  const objects = openObjects(location, { observer, log });
  try {
    objects.requests.isImpatient = true;
    await checkUsable(objects, { location, startPatienceMs, log });
    objects.requests.isImpatient = false;
    return { objects, location };
  } catch (error) {
    objects.stop();
    throw error;
  }
}

function openObjects(
  location: S3Location,
  { observer, log }: { readonly observer: S3Observer | undefined; readonly log: Logger },
): S3Objects {
  const { endpoint, region, credentials, usesPathStyle } = location;
  const client = new S3Client({
    endpoint,
    region,
    credentials,
    forcePathStyle: usesPathStyle,
    // Requests are repeated here, with their bodies.
    maxAttempts: 1,
    // Requests no newer checksums, which not all servers know. Each request signs the hash of its body.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      httpAgent: { keepAlive: true, maxSockets: maxConnections },
      httpsAgent: { keepAlive: true, maxSockets: maxConnections },
    },
  });
  return new S3Objects(client, location.bucket, new S3Requests({ observer, log }));
}

/** Reads, writes and deletes, so that missing permissions are told now. */
async function checkUsable(
  objects: S3Objects,
  {
    location,
    startPatienceMs,
    log,
  }: { readonly location: S3Location; readonly startPatienceMs: number; readonly log: Logger },
): Promise<void> {
  const endsAtMs = performance.now() + startPatienceMs;
  const key = `${location.prefix}.millrace-check`;
  const attempt = async () => {
    await objects.check(location.prefix);
    await objects.put(key, async () => Buffer.from('millrace'));
    return objects.probeBatches(key);
  };
  for (;;) {
    try {
      const canRemoveBatches = await attempt();
      warnOfClock(objects.client.config.systemClockOffset, log);
      if (!canRemoveBatches) {
        log.warn('storage-without-batches', {
          advice: 'The S3 server cannot delete many objects with one request. They are deleted one by one.',
        });
      }
      return;
    } catch (error) {
      const fault = error instanceof AppError ? error.cause : error;
      const canRepeat = fault instanceof S3Fault && fault.canRetry && performance.now() < endsAtMs;
      if (!canRepeat) throw unusable(location, error);
      log.warn('storage-not-ready', { message: messageOf(error) });
      await sleep(startRetryMs);
    }
  }
}

function warnOfClock(skewMs: number, log: Logger): void {
  if (Math.abs(skewMs) <= maxClockSkewMs) return;
  const advice = 'Set the clock of this machine. Requests are signed with the time of the S3 server.';
  log.warn('storage-clock-differs', { seconds: Math.round(skewMs / 1000), advice });
}

function unusable(location: S3Location, error: unknown): AppError {
  return new AppError(
    'storage-unusable',
    `The storage ${describeS3Location(location)} cannot be used. ${messageOf(error)}`,
    { cause: error },
  );
}

/** Names the folder of its cached files. */
function idOf({ endpoint = '', bucket, prefix }: S3Location): string {
  return createHash('sha256')
    .update(JSON.stringify([endpoint, bucket, prefix]))
    .digest('hex')
    .slice(0, 16);
}
