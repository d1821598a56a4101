import { type FileHandle, open } from 'node:fs/promises';
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { newUuid } from '../../shared/ids.ts';
import { readFully } from '../read-fully.ts';
import { type ObjectVersion, quoted, type S3Objects } from './s3-objects.ts';

const mebibyte = 1024 ** 2;
const maxParts = 10_000;
/** Smallest part: smaller files are one request. */
const minPartBytes = 8 * mebibyte;
const minCopiedPartBytes = 512 * mebibyte;
/** Copies of larger objects need parts. */
const maxCopiedBytes = 5 * 1024 ** 3;
const maxBufferedBytes = 32 * mebibyte;
const maxParallelParts = 4;
const uploadIdName = 'millrace-upload';

interface Upload {
  readonly key: string;
  readonly id: string;
  /** Stored with the object: tells that a repeated request has completed it before. */
  readonly mark: string;
}

interface Part {
  readonly number: number;
  readonly start: number;
  readonly length: number;
}

/** Reads and sends a file, a part at a time. Fails when it gets shorter meanwhile. */
export async function uploadFile(
  objects: S3Objects,
  path: string,
  key: string,
  signal?: AbortSignal,
): Promise<ObjectVersion> {
  await using file = await open(path, 'r');
  const bytes = (await file.stat()).size;
  if (bytes <= 2 * minPartBytes) return await objects.put(key, () => readPart(file, 0, bytes), signal);
  const partBytes = Math.max(minPartBytes, wholeMebibytes(bytes / maxParts));
  const parallel = Math.max(1, Math.min(maxParallelParts, Math.floor(maxBufferedBytes / partBytes)));
  const send = async (upload: Upload, { number, start, length }: Part, stop: AbortSignal) => {
    // Read when it is this part's turn, so that many uploads together take no more memory.
    const { ETag } = await objects.requests.run(
      'put',
      async abortSignal => {
        const Body = await readPart(file, start, length);
        const command = new UploadPartCommand({
          ...at(objects, upload),
          PartNumber: number,
          Body,
          ContentLength: length,
        });
        return await objects.client.send(command, { abortSignal });
      },
      stop,
    );
    objects.requests.countBytes('written', length);
    return { PartNumber: number, ETag };
  };
  return await inParts(objects, { key, parts: partsOf(bytes, partBytes), parallel, send, signal });
}

/** @param maxWholeBytes of copies that are one request */
export async function copyObject(
  objects: S3Objects,
  { from, to, version }: { readonly from: string; readonly to: string; readonly version: ObjectVersion },
  signal?: AbortSignal,
  maxWholeBytes = maxCopiedBytes,
): Promise<void> {
  const { bytes, etag } = version;
  if (bytes <= maxWholeBytes) return await objects.copyWhole(from, to, version, signal);
  const minPartBytes = Math.min(minCopiedPartBytes, maxWholeBytes);
  const partBytes = Math.max(minPartBytes, wholeMebibytes(bytes / maxParts));
  const send = async (upload: Upload, { number, start, length }: Part, stop: AbortSignal) => {
    const command = () =>
      new UploadPartCopyCommand({
        ...at(objects, upload),
        PartNumber: number,
        CopySource: objects.copySource(from),
        CopySourceIfMatch: etag,
        CopySourceRange: `bytes=${start}-${start + length - 1}`,
      });
    const { CopyPartResult } = await objects.requests.run(
      'copy',
      abortSignal => objects.client.send(command(), { abortSignal }),
      stop,
    );
    return { PartNumber: number, ETag: CopyPartResult?.ETag };
  };
  const parts = partsOf(bytes, partBytes);
  await inParts(objects, { key: to, parts, parallel: maxParallelParts, send, signal });
}

/** Ends uploads that nobody continues: their parts take space that no list shows. */
export async function abortOldUploads(
  objects: S3Objects,
  {
    prefix,
    isOurs,
    before,
  }: { readonly prefix: string; readonly isOurs: (key: string) => boolean; readonly before: number },
  signal?: AbortSignal,
): Promise<number> {
  let count = 0;
  let markers: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {};
  while (markers !== undefined) {
    const command: ListMultipartUploadsCommand = new ListMultipartUploadsCommand({
      Bucket: objects.bucket,
      Prefix: prefix,
      ...markers,
    });
    const page = await objects.requests.run(
      'list',
      abortSignal => objects.client.send(command, { abortSignal }),
      signal,
    );
    for (const { Key: key, UploadId: id, Initiated: at } of page.Uploads ?? []) {
      if (key === undefined || id === undefined || !isOurs(key)) continue;
      if ((at?.getTime() ?? Number.POSITIVE_INFINITY) >= before) continue;
      await abort(objects, { key, id, mark: '' });
      count += 1;
    }
    markers =
      page.IsTruncated === true && page.NextKeyMarker !== undefined
        ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker ?? '' }
        : undefined;
  }
  return count;
}

async function inParts(
  objects: S3Objects,
  {
    key,
    parts,
    parallel,
    send,
    signal,
  }: {
    readonly key: string;
    readonly parts: readonly Part[];
    readonly parallel: number;
    readonly send: (upload: Upload, part: Part, signal: AbortSignal) => Promise<CompletedPart>;
    readonly signal: AbortSignal | undefined;
  },
): Promise<ObjectVersion> {
  const upload = await create(objects, key, signal);
  const failure = new AbortController();
  const stop = signal === undefined ? failure.signal : AbortSignal.any([signal, failure.signal]);
  const done: CompletedPart[] = [];
  const waiting = parts.values();
  const sendParts = async () => {
    for (const part of waiting) {
      stop.throwIfAborted();
      done.push(await send(upload, part, stop));
    }
  };
  const senders = Array.from({ length: parallel }, () =>
    sendParts().catch((error: unknown) => {
      failure.abort(error);
      throw error;
    }),
  );
  try {
    await Promise.all(senders);
    const last = parts.at(-1)!;
    const etag = await complete(objects, upload, done, signal);
    return { etag, bytes: last.start + last.length };
  } catch (error) {
    await Promise.allSettled(senders);
    // A later sweep ends what this leaves.
    await abort(objects, upload).catch(() => {});
    throw error;
  }
}

async function create(objects: S3Objects, key: string, signal: AbortSignal | undefined): Promise<Upload> {
  const mark = newUuid();
  const command = () =>
    new CreateMultipartUploadCommand({
      Bucket: objects.bucket,
      Key: key,
      Metadata: { [uploadIdName]: mark },
    });
  const { UploadId: id = '' } = await objects.requests.run(
    'multipart',
    abortSignal => objects.client.send(command(), { abortSignal }),
    signal,
  );
  return { key, id, mark };
}

async function complete(
  objects: S3Objects,
  upload: Upload,
  parts: readonly CompletedPart[],
  signal: AbortSignal | undefined,
): Promise<string> {
  const sorted = [...parts].sort((one, other) => one.PartNumber! - other.PartNumber!);
  const command = () =>
    new CompleteMultipartUploadCommand({ ...at(objects, upload), MultipartUpload: { Parts: sorted } });
  try {
    const { ETag } = await objects.requests.run(
      'multipart',
      abortSignal => objects.client.send(command(), { abortSignal }),
      signal,
    );
    return quoted(ETag);
  } catch (error) {
    signal?.throwIfAborted();
    // An answer that was lost: the repeated request finds no upload.
    const found = await objects.readMetadata(upload.key).catch(() => undefined);
    if (found?.metadata[uploadIdName] === upload.mark) return found.etag;
    throw error;
  }
}

async function abort(objects: S3Objects, upload: Upload): Promise<void> {
  await objects.requests
    .run('delete', abortSignal =>
      objects.client.send(new AbortMultipartUploadCommand(at(objects, upload)), { abortSignal }),
    )
    .catch((error: unknown) => {
      if (!(error instanceof Error) || !('kind' in error) || error.kind !== 'missing') throw error;
    });
}

function at(objects: S3Objects, { key, id }: Upload): { Bucket: string; Key: string; UploadId: string } {
  return { Bucket: objects.bucket, Key: key, UploadId: id };
}

function partsOf(bytes: number, partBytes: number): Part[] {
  return Array.from({ length: Math.ceil(bytes / partBytes) }, (_, index) => {
    const start = index * partBytes;
    return { number: index + 1, start, length: Math.min(partBytes, bytes - start) };
  });
}

function wholeMebibytes(bytes: number): number {
  return Math.ceil(bytes / mebibyte) * mebibyte;
}

async function readPart(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = await readFully(file, start, length);
  if (bytes.length < length) throw new Error('The file became shorter while it was uploaded');
  return bytes;
}
