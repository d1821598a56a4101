import type { Player } from '../api/api-types.ts';
import { shortId } from './short-id.ts';

/** What a theme is called in the dashboard: its name, or something to tell it by. */
export function themeName({ name, playerId }: Pick<Player, 'name' | 'playerId'>): string {
  return name === undefined || name.trim() === '' ? `Unnamed ${shortId(playerId)}` : name;
}
