import { rm, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { MediaTools } from '../../ffmpeg/media-tools.ts';
import { isInterruption } from '../../ffmpeg/run-failure.ts';
import { AppError, systemCodeOf } from '../../shared/errors.ts';

const limits = { timeoutMs: 10_000, memoryBytes: 2 ** 30, outputBytes: 2 ** 20 };

/** Uses the temporary file `PATH.pixel`. @throws what tells nothing about the image; the signal's reason when aborted */
export async function canDecodeImage(
  tools: MediaTools,
  path: string,
  options: { readonly signal: AbortSignal; readonly ids: Readonly<Record<string, unknown>> },
): Promise<boolean> {
  const pixel = `${resolve(path)}.pixel`;
  try {
    await tools.runCommand(
      command =>
        command
          .input(resolve(path))
          .inputOptions(['-threads', '1'])
          .output(pixel)
          .videoFilters('scale=2:2')
          .outputOptions(['-frames:v', '1', '-c:v', 'rawvideo', '-pix_fmt', 'gray', '-f', 'rawvideo']),
      { limits, purpose: 'image', ...options },
    );
    return (await stat(pixel)).size > 0;
  } catch (error) {
    options.signal.throwIfAborted();
    if (isInterruption(error)) throw error;
    if (error instanceof AppError && error.code === 'process-failed') return false;
    if (systemCodeOf(error) === 'ENOENT') return false;
    throw error;
  } finally {
    await rm(pixel, { force: true });
  }
}
