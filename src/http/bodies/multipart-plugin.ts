import { EventEmitter } from 'node:events';
import type { Part, PluginFunction } from 'formidable';
import { AppError, messageOf } from '../../shared/errors.ts';
import { MultipartParser } from './multipart-parser.ts';

export const maxBodyOverheadBytes = 256 * 1_024;

export interface FormPart extends EventEmitter {
  readonly name: string;
  readonly originalFilename: string | undefined;
  /** Set for files only: formidable tells them from fields by it. */
  readonly mimetype: string | undefined;
  readonly transferEncoding: 'utf-8';
}

/** Members that plugins use and formidable's types leave out. */
interface Form extends EventEmitter {
  readonly error: unknown;
  readonly options: { readonly maxTotalFileSize: number };
  readonly bytesReceived: number;
  readonly onPart: (part: Part) => void;
  type: string;
  ended: boolean;
  _parser: FormParser;
}

type FormParser = EventEmitter & { write(chunk: Buffer): void; end(): void };

export function boundaryOf(contentType: string): string {
  const [, quoted, token] = /^multipart\/.*;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? token;
  if (boundary === undefined) throw payloadError('The Content-Type header has no multipart boundary.');
  return boundary;
}

/** Formidable's own parser visits each byte in script: a third of the CPU time of an upload. */
export function multipartPlugin(boundary: string): PluginFunction {
  return formidable => {
    const form = formidable as unknown as Form;
    form.type = 'multipart';
    // Uses a member that is not public; formidable's own plugins set it, too.
    form._parser = createParser(form, boundary);
  };
}

function createParser(form: Form, boundary: string): FormParser {
  const emitter = new EventEmitter();
  let part: FormPart;
  let isInputOver = false;
  let unfinishedFiles = 0;
  form.on('file', () => {
    unfinishedFiles -= 1;
  });
  const guarded = (work: () => void) => {
    if (form.error) return;
    try {
      work();
    } catch (error) {
      emitter.emit('error', error);
    }
  };
  const parser = new MultipartParser(boundary, {
    onPartBegin(headers) {
      part = partFrom(headers);
      if (part.originalFilename !== undefined) unfinishedFiles += 1;
      parser.pause();
      // The receiver of the part may open a file first, and listens to `end` last of all.
      part.once('newListener', function resumeAfterEnd(event) {
        if (event === 'end') queueMicrotask(() => guarded(resume));
        else part.once('newListener', resumeAfterEnd);
      });
      form.onPart(part as unknown as Part);
    },
    onPartData: bytes => void part.emit('data', bytes),
    onPartEnd: () => void part.emit('end'),
    onEnd() {
      // Formidable ends the form itself when it has written the file.
      form.ended = true;
      if (unfinishedFiles === 0) form.emit('end');
    },
  });
  const resume = () => {
    parser.resume();
    if (isInputOver) checkEnd();
  };
  const checkEnd = () => {
    if (!parser.hasEnded && !parser.isPaused) throw payloadError('The body ended before its last boundary.');
  };
  return Object.assign(emitter, {
    write: (chunk: Buffer) =>
      guarded(() => {
        // Bounds a body without a length whose bytes belong to no file.
        if (form.bytesReceived > form.options.maxTotalFileSize + maxBodyOverheadBytes) {
          throw new AppError('uploaded-file-too-large');
        }
        parser.write(chunk);
      }),
    end: () => {
      isInputOver = true;
      guarded(checkEnd);
    },
  });
}

/** **Source**: RFC 7578 4.2, RFC 2183 2, RFC 8187 3.2 */
function partFrom(headers: ReadonlyMap<string, string>): FormPart {
  const disposition = headers.get('content-disposition') ?? '';
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase() ?? 'binary';
  if (!['binary', '7bit', '8bit', 'utf-8'].includes(encoding)) {
    throw payloadError('A part has a content transfer encoding, which is not supported (RFC 7578 4.7).');
  }
  const originalFilename = fileNameOf(disposition);
  return Object.assign(new EventEmitter(), {
    name: parameterOf(disposition, 'name') ?? '',
    originalFilename,
    mimetype: originalFilename === undefined ? undefined : 'application/octet-stream',
    transferEncoding: 'utf-8' as const,
  });
}

function fileNameOf(disposition: string): string | undefined {
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition)?.[1];
  if (extended !== undefined) {
    try {
      return baseName(decodeURIComponent(extended));
    } catch (error) {
      throw payloadError(`A file name cannot be read: ${messageOf(error)}`);
    }
  }
  const plain = parameterOf(disposition, 'filename');
  return plain === undefined ? undefined : baseName(plain);
}

function baseName(name: string): string {
  return name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
}

function parameterOf(disposition: string, name: string): string | undefined {
  const [, quoted, token] =
    new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s"]+))`, 'i').exec(disposition) ?? [];
  // Browsers write a quote as %22 and a backslash as it is; others escape both (RFC 2183).
  return quoted?.replace(/\\(["\\])/g, '$1').replace(/%22/g, '"') ?? token;
}

function payloadError(detail: string): AppError {
  return new AppError('invalid-payload', undefined, { details: { detail } });
}
