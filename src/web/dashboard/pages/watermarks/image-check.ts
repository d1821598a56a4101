import type { Size } from '../../../../shared/limits/watermark-placement.ts';
import { t } from '../../texts/players.ts';

const types: ReadonlySet<string> = new Set(['image/png', 'image/jpeg']);
const maxBytes = 8 * 1024 ** 2;
const maxSidePixels = 4_096;

/** Returns why the server would refuse a file, as far as that is known before its upload. @param size once it is decoded */
export function imageProblem(
  { type, size: bytes }: Pick<File, 'type' | 'size'>,
  size?: Size,
): string | undefined {
  if (!types.has(type)) return t('upload.notImage');
  if (bytes === 0) return t('upload.empty');
  if (bytes > maxBytes) return t('upload.tooLarge');
  if (size !== undefined && Math.max(size.width, size.height) > maxSidePixels)
    return t('upload.tooWide', {
      width: String(size.width),
      height: String(size.height),
      max: String(maxSidePixels),
    });
  return undefined;
}
