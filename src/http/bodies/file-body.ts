import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Context } from 'koa';
import { AppError, type ErrorCode } from '../../shared/errors.ts';
import { newUuid } from '../../shared/ids.ts';
import type { FileAdmission, UploadedFile } from '../routing/route.ts';
import { unknownAttributeError } from '../routing/validation.ts';
import { boundaryOf, type FormPart, maxBodyOverheadBytes, multipartPlugin } from './multipart-plugin.ts';
import { SpoolFile } from './spool-file.ts';

/** How file bodies are received. */
export interface FileBodyOptions {
  /** Folder for files that are being received; on the same file system as where handlers move them. */
  readonly uploadDir: string;
  /** A sender that is silent for so long is given up. */
  readonly idleTimeoutMs: number;
  /** Refuses when there is no room for so many more bytes; asked again while they arrive. @throws AppError `disk-full` */
  readonly requireFreeSpace: (bytes: number) => Promise<void>;
}

/** The name that most clients give the file; sent as text, it is a file that is missing. */
const defaultFileField = 'file';
const maxFields = 100;
const maxFieldBytes = 64 * 1_024;

/** Numbers that formidable gives its errors. */
const formidableCodes: Readonly<Record<number, ErrorCode>> = {
  1009: 'uploaded-file-too-large',
  1015: 'uploaded-file-multiple-files',
  1016: 'uploaded-file-too-large',
};

/**
 * Receives the one file of a multipart body: the part that has a file name, whatever its field is called. What can be refused
 * without the body is refused before it is read. The caller removes the file with {@link discardFile} when it is done.
 *
 * @param knownFields names of the text fields that may come with the file
 * @throws AppError of the `uploaded-file-` codes, `invalid-payload`, `invalid-attribute`, `request-timeout`, `disk-full`, or what `admission` throws
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
  await options.requireFreeSpace(announcedBytes);
  const folder = join(options.uploadDir, newUuid());
  await mkdir(folder);
  const spools: SpoolFile[] = [];
  const fields = new Map<string, string>();
  const broken = Promise.withResolvers<never>();
  // With it come 60 files that a start need not read.
  const { koaBody } = await import('koa-body');
  const parse = koaBody({
    multipart: true,
    json: false,
    text: false,
    urlencoded: false,
    formidable: {
      // Formidable's other kinds would be chosen by a word in the boundary, and one of them takes any amount into memory.
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
        const spool = new SpoolFile({
          path: filepath,
          needsDigest,
          checkFreeSpace: () => options.requireFreeSpace(0),
        });
        spools.push(spool);
        return spool;
      },
      onPart: (part, handlePart) => {
        const taken = part as unknown as FormPart;
        const isField = taken.originalFilename === undefined;
        if (!isField) admission.onFileBegin?.(fields);
        else if (taken.name !== defaultFileField && !knownFields.includes(taken.name)) {
          throw unknownAttributeError(taken.name);
        }
        // The function is asynchronous although its type hides it; nobody else would see it fail.
        Promise.resolve(handlePart(part) as unknown).catch(broken.reject);
        if (isField) collectField(taken, fields);
      },
    },
  });
  const watch = watchForIdleSender(ctx, options.idleTimeoutMs, broken.reject);
  try {
    await Promise.race([parse(ctx, async () => {}), broken.promise]);
    return toUploadedFile(ctx, spools[0], fields);
  } catch (error) {
    // Nothing of what still arrives is to be parsed or written.
    ctx.req.removeAllListeners('data');
    await Promise.all(spools.map(closeSpool));
    await removeFolder(folder);
    throw toUploadError(error, admission);
  } finally {
    clearInterval(watch);
  }
}

/** Deletes a received file, unless it was moved away. */
export async function discardFile(file: UploadedFile): Promise<void> {
  await removeFolder(dirname(file.path));
}

async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

async function closeSpool(spool: SpoolFile): Promise<void> {
  spool.destroy();
  if (!spool.closed) await new Promise<void>(resolve => void spool.once('close', resolve));
}

/** The last of each name; formidable bounds how much there can be. */
function collectField(part: FormPart, fields: Map<string, string>): void {
  const chunks: Buffer[] = [];
  part.on('data', (chunk: Buffer) => void chunks.push(Buffer.from(chunk)));
  part.on('end', () => void fields.set(part.name, Buffer.concat(chunks).toString()));
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

function toUploadError(error: unknown, admission: FileAdmission): AppError {
  const number = error instanceof Error && 'code' in error ? Number(error.code) : Number.NaN;
  const code = error instanceof AppError ? error.code : formidableCodes[number];
  if (code === 'uploaded-file-too-large') return fileTooLargeError(admission);
  if (error instanceof AppError) return error;
  if (code !== undefined) return fileError(code);
  // Numbers of a thousand and above are formidable's word about the request; anything else is a fault of ours.
  if (number >= 1_000) return new AppError('invalid-payload', undefined, { cause: error });
  return new AppError('server-error', 'A file could not be received.', { cause: error });
}

function fileTooLargeError(admission: FileAdmission): AppError {
  return (
    admission.tooLargeError ??
    fileError('uploaded-file-too-large', `The file must be ${admission.maxBytes} bytes or less.`)
  );
}

/** A refusal of an uploaded file. */
export function fileError(code: ErrorCode, detail?: string): AppError {
  return new AppError(code, undefined, {
    details: { name: 'file', ...(detail === undefined ? {} : { detail }) },
  });
}

function toUploadedFile(
  ctx: Context,
  spool: SpoolFile | undefined,
  fields: ReadonlyMap<string, string>,
): UploadedFile {
  const [file] = Object.values(ctx.request.files ?? {}).flat();
  if (file === undefined || spool === undefined) throw fileError('uploaded-file-no-file');
  return {
    path: file.filepath,
    bytes: spool.bytesWritten,
    fileName: file.originalFilename ?? '',
    digest: spool.takeDigest(),
    fields,
  };
}
