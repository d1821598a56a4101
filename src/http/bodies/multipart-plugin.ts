import { EventEmitter } from 'node:events';
import type { Part, PluginFunction } from 'formidable';
import { AppError, messageOf } from '../../shared/errors.ts';
import { MultipartParser } from './multipart-parser.ts';

/** What fields, boundaries and headers may take beside the bytes of a file. */
export const maxBodyOverheadBytes = 256 * 1_024;

/** A part as formidable's own functions take it: its bytes come with `data`, and `end` says that it is whole. */
export interface FormPart extends EventEmitter {
  readonly name: string;
  /** Undefined for a field. */
  readonly originalFilename: string | undefined;
  /** Set exactly for files: formidable tells them from fields by it. */
  readonly mimetype: string | undefined;
  readonly transferEncoding: 'utf-8';
}

/** What formidable lets a plugin use, and what it asks of a plugin's parser; its types leave both out. */
interface Form {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly error: unknown;
  readonly options: { readonly maxTotalFileSize: number };
  readonly bytesReceived: number;
  readonly onPart: (part: Part) => void;
  type: string;
  ended: boolean;
  _parser: EventEmitter & { write(chunk: Buffer): void; end(): void };
  _maybeEnd(): void;
  _error(error: unknown): void;
}

/**
 * Takes the place of formidable's multipart plugin, whose parser looks at each byte from script: about a third of the
 * processor time of an upload, and all of it where a body is made to be slow. A file is a part with a file name.
 */
export const multipartPlugin: PluginFunction = formidable => {
  const form = formidable as unknown as Form;
  const type = form.headers['content-type'] ?? '';
  const boundary = /^multipart\/.*;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type)?.slice(1).find(Boolean);
  if (boundary === undefined) {
    form._error(payloadError('The content type names no multipart boundary.'));
    return;
  }
  form.type = 'multipart';
  try {
    form._parser = parserOf(form, boundary);
  } catch (error) {
    form._error(error);
  }
};

function parserOf(form: Form, boundary: string): Form['_parser'] {
  let part: FormPart;
  let isInputOver = false;
  const parser = new MultipartParser(boundary, {
    onPartBegin(headers) {
      part = partFrom(headers);
      parser.pause();
      // Whoever takes it may do so later, and listens to its end last of all.
      part.once('newListener', function goOn(event) {
        if (event === 'end') queueMicrotask(() => guarded(goOnReading));
        else part.once('newListener', goOn);
      });
      form.onPart(part as unknown as Part);
    },
    onPartData: bytes => void part.emit('data', bytes),
    onPartEnd: () => void part.emit('end'),
    onEnd() {
      form.ended = true;
      form._maybeEnd();
    },
  });
  const goOnReading = () => {
    parser.resume();
    if (isInputOver) checkEnd();
  };
  const checkEnd = () => {
    if (!parser.hasEnded && !parser.isPaused) throw payloadError('The body ended before its last boundary.');
  };
  const guarded = (work: () => void) => {
    if (form.error) return;
    try {
      work();
    } catch (error) {
      form._error(error);
    }
  };
  return Object.assign(new EventEmitter(), {
    write: (chunk: Buffer) =>
      guarded(() => {
        // A body without a length must not go on for ever in what belongs to no file.
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

/** Some clients send the whole path. */
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
