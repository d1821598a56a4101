import { t } from '../../texts/videos.ts';
import { titleOf } from '../../uploads/upload.ts';

export function titleOfUrl(address: string): string {
  const url = URL.parse(address.trim());
  if (url === null) return t('import.video');
  const last = url.pathname.split('/').findLast(part => part !== '');
  if (last === undefined) return url.hostname || t('import.video');
  try {
    return titleOf(decodeURIComponent(last));
  } catch {
    return titleOf(last);
  }
}
