import type { Player } from '../api/api-types.ts';
import { shortId } from './short-id.ts';

export function themeName({ name, playerId }: Pick<Player, 'name' | 'playerId'>): string {
  return name === undefined || name.trim() === '' ? `Unnamed ${shortId(playerId)}` : name;
}
