import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { multipart } from 'formidable';
import type { Context } from 'koa';
import { koaBody } from 'koa-body';
import { AppError, type ErrorCode } from '../shared/errors.ts';
import { newUuid } from '../shared/ids.ts';
import type { FileBody, UploadedFile } from './route.ts';

/** How a file body is received. */
export interface FileBodyOptions {
  /** Folder for files that are being received; on the same file system as where handlers move them. */
  readonly uploadDir: string;
  /** A sender that is silent for so long is given up. */
  readonly idleTimeoutMs: number;
}

const fieldsAtMost = 100;
const fieldBytesAtMost = 64 * 1_024;

/** Numbers that the multipart parser gives its errors. */
const parserCodes: Readonly<Record<number, ErrorCode>> = {
  1009: 'uploaded-file-too-large',
  1015: 'uploaded-file-multiple-files',
  1016: 'uploaded-file-too-large',
};

/**
 * Receives the one file of a multipart body: the part that has a file name, whatever its field is called. The caller removes
 * it with {@link discardFile} when it is done.
 *
 * @throws AppError of the `uploaded-file-` codes, `invalid-payload` or `request-timeout`
 */
export async function receiveFile(
  ctx: Context,
  body: FileBody,
  options: FileBodyOptions,
): Promise<UploadedFile> {
  // A folder of its own, because the parser may still open a file after it has given up.
  const folder = join(options.uploadDir, newUuid());
  await mkdir(folder);
  const broken = Promise.withResolvers<never>();
  const parse = koaBody({
    multipart: true,
    json: false,
    text: false,
    urlencoded: false,
    formidable: {
      // The parser's other kinds would be chosen by a word in the boundary, and one of them takes any amount into memory.
      enabledPlugins: [multipart],
      uploadDir: folder,
      filename: () => 'file',
      maxFiles: 1,
      maxFileSize: body.bytesMax,
      maxTotalFileSize: body.bytesMax,
      allowEmptyFiles: true,
      minFileSize: 0,
      maxFields: fieldsAtMost,
      maxFieldsSize: fieldBytesAtMost,
      onPart: (part, handlePart) => {
        preparePart(part as unknown as ParsedPart);
        // The parser's own function is asynchronous although its type hides it; nobody else would see it fail.
        Promise.resolve(handlePart(part) as unknown).catch(broken.reject);
      },
    },
  });
  const watch = watchForSilence(ctx, options.idleTimeoutMs, broken.reject);
  try {
    await Promise.race([parse(ctx, async () => {}), broken.promise]);
    return oneFile(ctx);
  } catch (error) {
    await removeFolder(folder);
    throw refusalOf(error, body);
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

interface ParsedPart {
  headers: Record<string, string | undefined>;
  mimetype: string | null;
  transferEncoding: string;
}

/** The parser takes a part with a content type for a file, and one without for a field; what counts here is the file name. */
function preparePart(part: ParsedPart): void {
  const hasFileName = /;\s*filename\*?=/i.test(part.headers['content-disposition'] ?? '');
  part.mimetype = hasFileName ? (part.mimetype ?? 'application/octet-stream') : null;
  // Whatever the part was sent in, it has been decoded to bytes; the parser would take the name for that of a character set.
  part.transferEncoding = 'utf-8';
}

function watchForSilence(
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

function refusalOf(error: unknown, body: FileBody): AppError {
  if (error instanceof AppError) return error;
  const number = error instanceof Error && 'code' in error ? Number(error.code) : Number.NaN;
  const code = parserCodes[number];
  if (code === 'uploaded-file-too-large') {
    return fileError(code, `The file must be ${body.bytesMax} bytes or less.`);
  }
  if (code !== undefined) return fileError(code);
  // Numbers of a thousand and above are the parser's word about the request; anything else is a fault of ours.
  if (number >= 1_000) return new AppError('invalid-payload', undefined, { cause: error });
  return new AppError('server-error', 'A file could not be received.', { cause: error });
}

/** A refusal of an uploaded file. */
export function fileError(code: ErrorCode, detail?: string): AppError {
  return new AppError(code, undefined, {
    details: { name: 'file', ...(detail === undefined ? {} : { detail }) },
  });
}

function oneFile(ctx: Context): UploadedFile {
  const [file] = Object.values(ctx.request.files ?? {}).flat();
  if (file === undefined) throw fileError('uploaded-file-no-file');
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries((ctx.request.body ?? {}) as Record<string, string | string[]>)) {
    fields.set(name, typeof value === 'string' ? value : (value.at(-1) ?? ''));
  }
  return { path: file.filepath, bytes: file.size, fileName: file.originalFilename ?? '', fields };
}
