import { readFile, rename, rm } from 'node:fs/promises';
import type { Overlay } from '../../ffmpeg/arguments/encode-options.ts';
import { sandboxOverlay } from '../../ffmpeg/arguments/sandbox-watermark.ts';
import { isInterruption } from '../../ffmpeg/run-failure.ts';
import { AppError } from '../../shared/errors.ts';
import { ffmpegPath, imageRunLimits, type VideoInput } from './frames.ts';
import { imageFilters } from './image-filters.ts';
import { uprightFilters } from './image-orientation.ts';

type ImageRun = Pick<VideoInput, 'tools' | 'signal' | 'ids' | 'memoryBytes'>;

const maxImageSide = 1_280;
const timeoutMs = 15_000;
const imagesOnly = ['-threads', '1', '-format_whitelist', 'jpeg_pipe,png_pipe,webp_pipe,image2'];
const oneFrame = ['-frames:v', '1', '-map_metadata', '-1'];

export function overlayGraph({ x, y, width, height }: Overlay, then: string): string {
  return `[1:v]format=rgba,scale=${width}:${height}[mark];[0:v][mark]overlay=x=${x}:y=${y},${then}`;
}

/** Uses `PATH.marked` meanwhile. @throws AppError `process-failed`; the signal's reason when aborted */
export async function watermarkFrame(run: ImageRun, path: string): Promise<void> {
  const marked = `${path}.marked`;
  try {
    await burnIn(run, path, marked);
    await rename(marked, path);
  } finally {
    await rm(marked, { force: true });
  }
}

/**
 * Returns false when the image cannot be decoded. Uses `PATH.plain.png` and `PATH.marked` meanwhile. @throws
 * the signal's reason
 */
export async function watermarkImage(run: ImageRun, path: string): Promise<boolean> {
  const plain = `${path}.plain.png`;
  const marked = `${path}.marked`;
  try {
    const upright = uprightFilters(await readFile(path));
    await run.tools.runCommand(
      command =>
        command
          .input(ffmpegPath(path))
          .inputOptions([...imagesOnly, '-noautorotate'])
          .output(ffmpegPath(plain))
          // JPEG uses BT.601, and RGB is converted to it.
          .videoFilters([...upright, ...imageFilters(within, { colorMatrix: 'bt601' })])
          .outputOptions([...oneFrame, '-c:v', 'png', '-f', 'image2']),
      { limits: imageRunLimits(run, timeoutMs), signal: run.signal, purpose: 'image', ids: run.ids },
    );
    await burnIn(run, plain, marked);
    await rename(marked, path);
    return true;
  } catch (error) {
    run.signal.throwIfAborted();
    if (error instanceof AppError && isImageError(error) && !isInterruption(error)) return false;
    throw error;
  } finally {
    await Promise.all([plain, marked].map(file => rm(file, { force: true })));
  }
}

const within = { fit: 'within', width: maxImageSide, height: maxImageSide } as const;

function isImageError({ code }: AppError): boolean {
  return code === 'process-failed' || code === 'media-refused';
}

async function burnIn({ tools, signal, ids, ...rest }: ImageRun, from: string, to: string): Promise<void> {
  const overlay = sandboxOverlay(await tools.sizeOfImage(from, signal));
  await tools.runCommand(
    command =>
      command
        .input(ffmpegPath(from))
        .inputOptions(imagesOnly)
        .input(overlay.path)
        .complexFilter(overlayGraph(overlay, 'format=yuvj420p'))
        .output(ffmpegPath(to))
        .outputOptions([...oneFrame, '-c:v', 'mjpeg', '-q:v', '3', '-f', 'mjpeg']),
    { limits: imageRunLimits(rest, timeoutMs), signal, purpose: 'image', ids },
  );
}
