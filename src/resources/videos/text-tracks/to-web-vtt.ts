import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { fileError } from '../../../http/bodies/file-body.ts';
import type { UploadedFile } from '../../../http/routing/route.ts';
import { TextTrackReader } from '../../../media/webvtt/text-track-reader.ts';
import { maxTextTrackBytes } from '../../../shared/limits/resource-limits.ts';

interface WebVttFile extends Pick<UploadedFile, 'path' | 'bytes'> {
  /** Sentences about what was mended. */
  readonly warnings: readonly string[];
}

/** Converted without yielding to the event loop. */
const chunkBytes = 4 * 1_024;

/** Returns the uploaded file when it is valid WebVTT, or else what could be read of it, as WebVTT beside it. */
export async function toWebVtt(file: UploadedFile, language: string): Promise<WebVttFile> {
  if (file.bytes === 0) throw fileError('uploaded-file-empty');
  const path = `${file.path}.vtt`;
  let bytes = 0;
  let reader: TextTrackReader | undefined;
  await using output = await open(path, 'wx');
  const chunks: AsyncIterable<Buffer> = createReadStream(file.path, { highWaterMark: chunkBytes });
  for await (const chunk of chunks) {
    reader ??= new TextTrackReader(chunk, language);
    bytes += (await output.write(reader.read(chunk))).bytesWritten;
    if (bytes > maxTextTrackBytes && reader.isChanged) throw fileError('uploaded-file-too-large');
  }
  const end = reader?.end();
  if (reader === undefined || end === undefined) {
    throw fileError(
      'uploaded-file-invalid-file',
      'No cue was found: there is no line with times such as 00:01.000 --> 00:04.000. Upload a WebVTT (.vtt) or SubRip (.srt) file.',
    );
  }
  bytes += (await output.write(end)).bytesWritten;
  const { warnings } = reader;
  return reader.isChanged ? { path, bytes, warnings } : { path: file.path, bytes: file.bytes, warnings };
}
