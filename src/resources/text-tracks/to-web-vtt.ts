import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { fileError } from '../../http/bodies/file-body.ts';
import type { UploadedFile } from '../../http/routing/route.ts';
import type { AppError } from '../../shared/errors.ts';
import { SubRipConverter } from './subrip-converter.ts';
import { maxTextTrackBytes } from './text-track.ts';

const webVttSignature = /^\ufeff?WEBVTT/;
/** A byte order mark and `WEBVTT`. */
const signatureBytes = 9;
/** Above the limit of the converter. */
const maxLineBytes = 64 * 1_024;
/** Converted without yielding to the event loop: 5 ms when every line is empty. */
const chunkBytes = 4 * 1_024;
const lineFeed = 0x0a;

/** Returns the uploaded WebVTT, whose cues are not validated, or the converted SubRip file beside it. */
export async function toWebVtt(file: UploadedFile): Promise<Pick<UploadedFile, 'path' | 'bytes'>> {
  if (file.bytes === 0) throw fileError('uploaded-file-empty');
  return (await isWebVtt(file.path)) ? file : convertSubRip(file.path);
}

async function isWebVtt(path: string): Promise<boolean> {
  await using handle = await open(path);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(signatureBytes), 0, signatureBytes, 0);
  return webVttSignature.test(buffer.toString('utf8', 0, bytesRead));
}

async function convertSubRip(path: string): Promise<Pick<UploadedFile, 'path' | 'bytes'>> {
  const converted = `${path}.vtt`;
  const converter = new SubRipConverter();
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  await using output = await open(converted, 'wx');
  let bytes = 0;
  let line = 0;
  const convert = (encoded: Buffer): string => {
    line += 1;
    let text: string;
    try {
      text = utf8.decode(encoded);
    } catch {
      throw refuse(line, 'is not UTF-8');
    }
    const result = converter.convert(text);
    if (typeof result !== 'string') throw refuse(line, result.problem);
    return result;
  };
  const write = async (text: string) => {
    bytes += (await output.write(text)).bytesWritten;
    if (bytes > maxTextTrackBytes) throw fileError('uploaded-file-too-large');
  };
  await write('WEBVTT\n');
  let rest: Buffer = Buffer.alloc(0);
  const chunks: AsyncIterable<Buffer> = createReadStream(path, { highWaterMark: chunkBytes });
  for await (const chunk of chunks) {
    const lines = Buffer.concat([rest, chunk]);
    let text = '';
    let begin = 0;
    for (let end = lines.indexOf(lineFeed); end >= 0; end = lines.indexOf(lineFeed, begin)) {
      text += convert(lines.subarray(begin, end));
      begin = end + 1;
    }
    rest = lines.subarray(begin);
    if (rest.length > maxLineBytes) throw refuse(line + 1, `is longer than ${maxLineBytes} bytes`);
    if (text !== '') await write(text);
  }
  await write(convert(rest));
  const end = converter.end();
  if (end !== undefined) throw refuse(line, end.problem);
  return { path: converted, bytes };
}

function refuse(line: number, problem: string): AppError {
  return fileError(
    'uploaded-file-invalid-file',
    `Line ${line}: ${problem}. Upload a WebVTT (.vtt) or SubRip (.srt) file in UTF-8.`,
  );
}
