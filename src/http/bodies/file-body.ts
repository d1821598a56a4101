import { mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Context } from 'koa';
import { AppError, type ErrorCode, systemCodeOf } from '../../shared/errors.ts';
import { toMachineError } from '../../shared/files/disk-error.ts';
import { newUuid } from '../../shared/ids.ts';
import type { FileAdmission, UploadedFile } from '../routing/route.ts';
import { nullCharacterError, unknownAttributeError } from '../routing/validation.ts';
import { boundaryOf, type FormPart, maxBodyOverheadBytes, multipartPlugin } from './multipart-plugin.ts';
import { SpoolFile } from './spool-file.ts';

export interface FileBodyOptions {
  /** Must be on the file system to which handlers move files. */
  readonly uploadDir: string;
  readonly idleTimeoutMs: number;
  /** @throws AppError `data-dir-unusable`, or `disk-full` when so many more bytes would leave too little space */
  readonly requireFreeSpace: (bytes: number) => Promise<void>;
  /** Ends it with the `reason`, an AppError. */
  readonly signal?: AbortSignal | undefined;
}

/** Field name of most clients for the file; as a text field it means that the file is missing. */
const defaultFileField = 'file';
const maxFields = 100;
const maxFieldBytes = 64 * 1_024;

const formidableFieldTooLarge = 1006;
const formidableCodes: Readonly<Record<number, ErrorCode>> = {
  1009: 'uploaded-file-too-large',
  1015: 'uploaded-file-multiple-files',
  1016: 'uploaded-file-too-large',
};

type ParserOptions = NonNullable<
  NonNullable<Parameters<typeof import('koa-body')['koaBody']>[0]>['formidable']
>;

let parserModule: Promise<typeof import('koa-body')> | undefined;

/** Loaded late: it brings 60 files and 8 MB that a start does not need. */
function loadParser(): Promise<typeof import('koa-body')> {
  parserModule ??= import('koa-body').catch((error: unknown) => {
    parserModule = undefined;
    throw error;
  });
  return parserModule;
}

/** Loads what {@link receiveFile} needs, so that the first file does not wait for it. */
export function prepareForFiles(): void {
  loadParser().catch(() => {});
}

/**
 * Receives the one file of a multipart body: the part with a file name, under any field name. The caller
 * removes it with {@link discardFile}.
 * @throws AppError of the `uploaded-file-` codes, `invalid-payload`, `invalid-attribute`, `request-timeout`,
 * `disk-full`, `data-dir-unusable`, and the reason of the signal
 */
export async function receiveFile(
  ctx: Context,
  admission: FileAdmission,
  knownFields: readonly string[],
  options: FileBodyOptions,
): Promise<UploadedFile> {
  const announcedBytes = Number(ctx.req.headers['content-length'] ?? 0);
  if (announcedBytes > admission.maxBytes + maxBodyOverheadBytes) throw fileTooLargeError(admission);
  const boundary = ctx.is('multipart') ? boundaryOf(ctx.get('content-type')) : '';
  const folder = await makeFolder(options, announcedBytes);
  const reception: Reception = {
    folder,
    admission,
    knownFields,
    spools: [],
    fields: new Map(),
    unnamed: undefined,
    broken: Promise.withResolvers<never>(),
    isOver: false,
  };
  const { spools, fields, broken } = reception;
  const { koaBody } = await loadParser();
  const parse = koaBody({
    multipart: true,
    json: false,
    text: false,
    urlencoded: false,
    formidable: parserOptions(ctx, boundary, reception, options),
  });
  const watch = watchForIdleSender(ctx, options.idleTimeoutMs, broken.reject);
  options.signal?.addEventListener('abort', () => broken.reject(options.signal?.reason));
  try {
    options.signal?.throwIfAborted();
    await Promise.race([parse(ctx, async () => {}), broken.promise]);
    // Formidable takes a file that could not be opened for an empty one.
    for (const { errored } of spools) if (errored !== null) throw errored;
    return toUploadedFile(ctx, spools[0], fields, noFileDetail(reception.unnamed));
  } catch (error) {
    ctx.req.removeAllListeners('data');
    await Promise.all(spools.map(closeSpool));
    await removeFolder(folder);
    const { unnamed } = reception;
    // The text of fields is limited: this one is a file.
    if (unnamed === defaultFileField && codeOf(error) === formidableFieldTooLarge) {
      throw fileError('uploaded-file-no-file', noFileDetail(unnamed));
    }
    throw toUploadError(toMachineError(toLostUpload(error, options.uploadDir)), admission);
  } finally {
    reception.isOver = true;
    clearInterval(watch);
  }
}

/** A file that arrives. */
interface Reception {
  readonly folder: string;
  readonly admission: FileAdmission;
  readonly knownFields: readonly string[];
  readonly spools: SpoolFile[];
  readonly fields: Map<string, string>;
  /** A part without a file name that may be the file. */
  unnamed: string | undefined;
  readonly broken: PromiseWithResolvers<never>;
  isOver: boolean;
}

async function makeFolder(
  { uploadDir, requireFreeSpace }: FileBodyOptions,
  announcedBytes: number,
): Promise<string> {
  const folder = join(uploadDir, newUuid());
  const [hasRoom, isMade] = await Promise.allSettled([requireFreeSpace(announcedBytes), mkdir(folder)]);
  if (hasRoom.status === 'rejected') {
    if (isMade.status === 'fulfilled') await removeFolder(folder);
    throw hasRoom.reason;
  }
  if (isMade.status === 'rejected') throw toLostUpload(isMade.reason, uploadDir);
  return folder;
}

function parserOptions(
  ctx: Context,
  boundary: string,
  reception: Reception,
  { requireFreeSpace }: FileBodyOptions,
): ParserOptions {
  const { folder, admission, spools, broken } = reception;
  return {
    // A word in the boundary could select formidable's other plugins, one of which buffers without a limit.
    enabledPlugins: [multipartPlugin(boundary)],
    uploadDir: folder,
    filename: () => `file${spools.length}`,
    maxFiles: 1,
    maxFileSize: admission.maxBytes,
    maxTotalFileSize: admission.maxBytes,
    allowEmptyFiles: true,
    minFileSize: 0,
    maxFields,
    maxFieldsSize: maxFieldBytes,
    fileWriteStreamHandler: file => {
      const { filepath } = file as unknown as { filepath: string };
      const needsDigest = admission.needsDigest ?? false;
      const spool = new SpoolFile({ path: filepath, needsDigest, checkFreeSpace: () => requireFreeSpace(0) });
      spools.push(spool);
      return spool;
    },
    onPart: (part, handlePart) => {
      // Asynchronous in spite of its type: its failure must be handled here.
      const receive = async () => await (handlePart(part) as unknown);
      const taken = part as unknown as FormPart;
      if (taken.originalFilename === undefined) {
        expectField(taken, reception);
        receive().catch(broken.reject);
        collectField(taken, reception.fields, broken.reject);
      } else {
        admitFile(ctx, admission, reception.fields)
          .then(() => (reception.isOver ? undefined : receive()))
          .catch(broken.reject);
      }
    },
  };
}

/** @throws AppError `invalid-attribute` for a field that the route does not have */
function expectField({ name }: FormPart, reception: Reception): void {
  if (reception.knownFields.includes(name)) return;
  reception.unnamed ??= name;
  if (name === defaultFileField) return;
  const { details } = unknownAttributeError(name);
  throw new AppError('invalid-attribute', undefined, { details: { ...details, detail: noFileDetail(name) } });
}

/** The parser buffers what arrives until the file is admitted. */
async function admitFile(
  { req }: Context,
  { onFileBegin }: FileAdmission,
  fields: ReadonlyMap<string, string>,
): Promise<void> {
  if (onFileBegin === undefined) return;
  req.pause();
  await onFileBegin(fields);
  req.resume();
}

/** The folder with the received file was removed. Returns other errors unchanged. */
export function toLostUpload(error: unknown, uploadDir: string): unknown {
  if (systemCodeOf(error) !== 'ENOENT') return error;
  const { path } = error as NodeJS.ErrnoException;
  if (path === undefined || !path.startsWith(uploadDir)) return error;
  return new AppError('data-dir-unusable', `${path} was deleted while it was in use.`, { cause: error });
}

export async function discardFile(file: UploadedFile): Promise<void> {
  await removeFolder(dirname(file.path));
}

async function removeFolder(path: string): Promise<void> {
  // Faster, and enough once the file has been moved.
  const isRemoved = await rmdir(path).then(
    () => true,
    () => false,
  );
  if (isRemoved) return;
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

async function closeSpool(spool: SpoolFile): Promise<void> {
  spool.destroy();
  if (!spool.closed) await new Promise<void>(resolve => void spool.once('close', resolve));
}

function collectField(part: FormPart, fields: Map<string, string>, refuse: (error: AppError) => void): void {
  const chunks: Buffer[] = [];
  part.on('data', (chunk: Buffer) => void chunks.push(Buffer.from(chunk)));
  part.on('end', () => {
    const text = Buffer.concat(chunks).toString();
    if (text.includes('\0') && part.name !== defaultFileField) refuse(nullCharacterError(part.name));
    else fields.set(part.name, text);
  });
}

function watchForIdleSender(
  ctx: Context,
  idleTimeoutMs: number,
  giveUp: (error: AppError) => void,
): NodeJS.Timeout {
  let bytesBefore = -1;
  return setInterval(() => {
    const bytesNow = ctx.req.socket.bytesRead;
    if (bytesNow === bytesBefore) giveUp(new AppError('request-timeout'));
    bytesBefore = bytesNow;
  }, idleTimeoutMs);
}

function codeOf(error: unknown): number {
  return error instanceof Error && 'code' in error ? Number(error.code) : Number.NaN;
}

/** @param unnamed the part without a file name that may be the file */
function noFileDetail(unnamed: string | undefined): string {
  const found =
    unnamed === undefined
      ? 'No part has a file name.'
      : `The part "${unnamed.slice(0, 100)}" has no file name.`;
  return `${found} Send the file as multipart/form-data with one: Content-Disposition: form-data; name="file"; filename="video.mp4".`;
}

function toUploadError(error: unknown, admission: FileAdmission): AppError {
  const number = codeOf(error);
  const code = error instanceof AppError ? error.code : formidableCodes[number];
  if (code === 'uploaded-file-too-large') return fileTooLargeError(admission);
  if (error instanceof AppError) return error;
  if (code !== undefined) return fileError(code);
  // Numbers from 1,000 on are formidable's errors about the request; others are internal errors.
  if (number >= 1_000) return new AppError('invalid-payload', undefined, { cause: error });
  return new AppError('server-error', 'A file could not be received.', { cause: error });
}

function fileTooLargeError(admission: FileAdmission): AppError {
  return (
    admission.tooLargeError ??
    fileError('uploaded-file-too-large', `The file must be ${admission.maxBytes} bytes or less.`)
  );
}

export function fileError(code: ErrorCode, detail?: string): AppError {
  return new AppError(code, undefined, {
    details: { name: 'file', detail },
  });
}

function toUploadedFile(
  ctx: Context,
  spool: SpoolFile | undefined,
  fields: ReadonlyMap<string, string>,
  missingDetail: string,
): UploadedFile {
  const [file] = Object.values(ctx.request.files ?? {}).flat();
  if (file === undefined || spool === undefined) throw fileError('uploaded-file-no-file', missingDetail);
  return {
    path: file.filepath,
    bytes: spool.bytesWritten,
    fileName: file.originalFilename ?? '',
    digest: spool.takeDigest(),
    fields,
  };
}
