import type { Player } from '../api/api-types.ts';
import { t } from '../texts/shell.ts';
import { shortId } from './short-id.ts';

export function themeName({ name, playerId }: Pick<Player, 'name' | 'playerId'>): string {
  return name === undefined || name.trim() === '' ? t('theme.unnamed', { id: shortId(playerId) }) : name;
}
