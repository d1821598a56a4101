import type { Watermark } from '../../api/api-types.ts';
import { shortId } from '../../format/short-id.ts';
import { t } from '../../texts/players.ts';

export function watermarkName({ name, watermarkId }: Pick<Watermark, 'name' | 'watermarkId'>): string {
  return name === undefined || name.trim() === ''
    ? t('watermarks.unnamed', { ending: shortId(watermarkId) })
    : name;
}
