import type { ServerSetting } from '../../api/api-types.ts';
import { t } from '../../texts/server.ts';

export function valueLabel({ isSecret, isSet, value }: ServerSetting): string {
  if (!isSet) return t('settingList.notSet');
  return isSecret ? t('settingList.set') : (value ?? '');
}
