import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { AppError } from '../../shared/errors.ts';
import { forEachFile } from './for-each-file.ts';
import { S3Fault, type S3FaultKind } from './s3-fault.ts';
import type { S3Requests } from './s3-requests.ts';

/** Names the content of an object. */
export interface ObjectVersion {
  readonly etag: string;
  readonly bytes: number;
}

export interface ObjectName {
  readonly key: string;
  readonly version: ObjectVersion;
}

export interface StoredObject extends ObjectVersion {
  readonly modifiedAtMs: number;
}

export interface ListedObject extends StoredObject {
  readonly key: string;
}

interface ListPage {
  readonly objects: readonly ListedObject[];
  /** Key prefixes up to the next slash, when these were asked for. */
  readonly prefixes: readonly string[];
  readonly next: string | undefined;
}

const maxDeletedAtOnce = 1000;
/** Answers of servers that do not know requests to remove many objects, or not in this form. */
const refusals: ReadonlySet<S3FaultKind> = new Set(['invalid', 'denied', 'missing']);
/** A bucket that answered is taken to exist for this long. */
const bucketTrustMs = 10_000;

/** The objects of one bucket. All methods throw as {@link S3Requests.run} does. */
export class S3Objects {
  readonly client: S3Client;
  readonly bucket: string;
  readonly requests: S3Requests;
  #bucketSeenAtMs = Number.NEGATIVE_INFINITY;
  #canRemoveBatches = true;

  constructor(client: S3Client, bucket: string, requests: S3Requests) {
    this.client = client;
    this.bucket = bucket;
    this.requests = requests;
  }

  stop(): void {
    this.requests.stop();
    this.client.destroy();
  }

  /** Undefined when it is missing. */
  async find(key: string): Promise<StoredObject | undefined> {
    try {
      const found = await this.requests.run('head', abortSignal =>
        this.client.send(new HeadObjectCommand(this.#at(key)), { abortSignal }),
      );
      this.#bucketSeenAtMs = performance.now();
      return storedObjectFrom(found.ETag, found.ContentLength, found.LastModified);
    } catch (error) {
      if (!(error instanceof S3Fault) || error.kind !== 'missing') throw error;
      await this.#confirmBucket();
      return undefined;
    }
  }

  /** Reads an object with the metadata that its upload gave it. */
  async readMetadata(
    key: string,
  ): Promise<{ readonly etag: string; readonly metadata: Readonly<Record<string, string>> }> {
    const found = await this.requests.run('head', abortSignal =>
      this.client.send(new HeadObjectCommand(this.#at(key)), { abortSignal }),
    );
    return { etag: quoted(found.ETag), metadata: found.Metadata ?? {} };
  }

  /** Reads exactly these bytes of this version. */
  read(
    key: string,
    version: ObjectVersion,
    range: { readonly start: number; readonly length: number },
    signal?: AbortSignal,
  ): Promise<Buffer> {
    const { start, length } = range;
    const command = () =>
      new GetObjectCommand({
        ...this.#at(key),
        Range: `bytes=${start}-${start + length - 1}`,
        IfMatch: version.etag,
      });
    return this.requests.run(
      'get',
      async (abortSignal, onProgress) => {
        const { Body, ContentLength, ETag } = await this.client.send(command(), { abortSignal });
        const body = Body as Readable;
        // Servers that do not know the condition.
        if (quoted(ETag) !== version.etag) {
          body.destroy();
          throw new S3Fault('changed', 'The object was replaced while it was read');
        }
        if (ContentLength !== length) {
          body.destroy();
          throw new S3Fault('server', `The S3 server sends ${ContentLength} bytes instead of ${length}`);
        }
        const bytes = await readBody(body, length, { signal: abortSignal, onProgress });
        this.requests.countBytes('read', length);
        this.#bucketSeenAtMs = performance.now();
        return bytes;
      },
      signal,
    );
  }

  /** @param readBody called for each attempt */
  put(key: string, readBody: () => Promise<Buffer>, signal?: AbortSignal): Promise<ObjectVersion> {
    return this.requests.run(
      'put',
      async abortSignal => {
        const body = await readBody();
        const command = new PutObjectCommand({ ...this.#at(key), Body: body, ContentLength: body.length });
        const { ETag } = await this.client.send(command, { abortSignal });
        this.requests.countBytes('written', body.length);
        return { etag: quoted(ETag), bytes: body.length };
      },
      signal,
    );
  }

  async copyWhole(from: string, to: string, version: ObjectVersion, signal?: AbortSignal): Promise<void> {
    const command = () =>
      new CopyObjectCommand({
        ...this.#at(to),
        CopySource: this.copySource(from),
        CopySourceIfMatch: version.etag,
      });
    await this.requests.run('copy', abortSignal => this.client.send(command(), { abortSignal }), signal);
  }

  copySource(key: string): string {
    return `${this.bucket}/${key}`.split('/').map(encodeURIComponent).join('/');
  }

  /** Does nothing when it is missing. */
  async remove(key: string): Promise<void> {
    try {
      await this.requests.run('delete', abortSignal =>
        this.client.send(new DeleteObjectCommand(this.#at(key)), { abortSignal }),
      );
    } catch (error) {
      if (!(error instanceof S3Fault) || error.kind !== 'missing') throw error;
    }
  }

  /**
   * Removes an object with a request for many, and remembers whether that works: some servers answer 501, and some 200
   * without removing anything.
   */
  async probeBatches(key: string): Promise<boolean> {
    await this.#removeBatch([key]).catch(() => {
      this.#canRemoveBatches = false;
    });
    if (this.#canRemoveBatches) this.#canRemoveBatches = (await this.find(key)) === undefined;
    if (!this.#canRemoveBatches) await this.remove(key);
    return this.#canRemoveBatches;
  }

  async removeAllBelow(prefix: string): Promise<void> {
    let keys: string[] = [];
    for await (const { key } of this.list(prefix)) {
      keys.push(key);
      if (keys.length < maxDeletedAtOnce) continue;
      await this.#removeBatch(keys);
      keys = [];
    }
    if (keys.length > 0) await this.#removeBatch(keys);
  }

  async *list(prefix: string): AsyncIterable<ListedObject> {
    for await (const page of this.#pages(prefix)) yield* page.objects;
  }

  async *listPrefixes(prefix: string): AsyncIterable<string> {
    for await (const page of this.#pages(prefix, '/')) yield* page.prefixes;
  }

  /** Fails when the bucket is missing or cannot be reached. */
  async check(prefix: string): Promise<void> {
    await this.requests.run('check', abortSignal =>
      this.client.send(new ListObjectsV2Command({ Bucket: this.bucket, Prefix: prefix, MaxKeys: 1 }), {
        abortSignal,
      }),
    );
    this.#bucketSeenAtMs = performance.now();
  }

  /** The answer to HEAD does not tell a missing bucket from a missing object. */
  async #confirmBucket(): Promise<void> {
    if (performance.now() - this.#bucketSeenAtMs > bucketTrustMs) await this.check('');
  }

  async *#pages(prefix: string, delimiter?: string): AsyncIterable<ListPage> {
    let next: string | undefined;
    do {
      const page: ListPage = await this.#page(prefix, delimiter, next);
      yield page;
      next = page.next;
    } while (next !== undefined);
  }

  async #page(prefix: string, delimiter: string | undefined, token: string | undefined): Promise<ListPage> {
    const command = () =>
      new ListObjectsV2Command({
        Bucket: this.bucket,
        Prefix: prefix,
        Delimiter: delimiter,
        ContinuationToken: token,
      });
    const page = await this.requests.run('list', abortSignal => this.client.send(command(), { abortSignal }));
    return {
      objects: (page.Contents ?? []).map(one => ({
        key: one.Key!,
        ...storedObjectFrom(one.ETag, one.Size, one.LastModified),
      })),
      prefixes: (page.CommonPrefixes ?? []).map(one => one.Prefix!),
      next: page.IsTruncated === true ? page.NextContinuationToken : undefined,
    };
  }

  async #removeBatch(keys: readonly string[]): Promise<void> {
    if (this.#canRemoveBatches) {
      try {
        await this.#removeAtOnce(keys);
        return;
      } catch (error) {
        const fault = error instanceof AppError ? error.cause : error;
        if (!(fault instanceof S3Fault) || !refusals.has(fault.kind)) throw error;
        this.#canRemoveBatches = false;
      }
    }
    await forEachFile(keys, undefined, key => this.remove(key));
  }

  async #removeAtOnce(keys: readonly string[]): Promise<void> {
    await this.requests.run('delete', async abortSignal => {
      const command = new DeleteObjectsCommand({
        Bucket: this.bucket,
        Delete: { Objects: keys.map(Key => ({ Key })), Quiet: true },
      });
      useContentMd5(command);
      const { Errors = [] } = await this.client.send(command, { abortSignal });
      const [fault] = Errors.filter(({ Code }) => Code !== 'NoSuchKey');
      if (fault === undefined) return;
      // The answer itself has the status of success.
      const $metadata = { httpStatusCode: 400 };
      throw Object.assign(new Error(fault.Message), { name: fault.Code, $metadata });
    });
  }

  #at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.bucket, Key: key };
  }
}

/** Replaces the newer checksums, which the SDK would send, by the one that all servers know. */
function useContentMd5(command: DeleteObjectsCommand): void {
  command.middlewareStack.add(
    next => args => {
      const { headers, body } = args.request as { headers: Record<string, string>; body: string };
      for (const name of Object.keys(headers))
        if (/^x-amz-(?:sdk-)?checksum-/.test(name)) delete headers[name];
      headers['content-md5'] = createHash('md5').update(body).digest('base64');
      return next(args);
    },
    { step: 'build', priority: 'low', name: 'contentMd5' },
  );
}

async function readBody(
  body: Readable,
  length: number,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: () => void },
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length);
  let done = 0;
  const onAbort = () => body.destroy(new Error('The request was aborted'));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      done += chunk.copy(bytes, done);
      onProgress();
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  if (done !== length) throw new S3Fault('network', 'The connection to the S3 server was cut');
  return bytes;
}

function storedObjectFrom(
  etag: string | undefined,
  bytes: number | undefined,
  modifiedAt: Date | undefined,
): StoredObject {
  return { etag: quoted(etag), bytes: bytes ?? 0, modifiedAtMs: modifiedAt?.getTime() ?? 0 };
}

/** Adds the quotes that some servers leave out. */
export function quoted(etag: string | undefined): string {
  return `"${(etag ?? '').replaceAll('"', '')}"`;
}
