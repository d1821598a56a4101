import type { Player } from '../api/api-types.ts';
import { endingOf } from './ending.ts';

/** What a theme is called in the dashboard: its name, or something to tell it by. */
export function themeName({ name, playerId }: Pick<Player, 'name' | 'playerId'>): string {
  return name === undefined || name.trim() === '' ? `Unnamed ${endingOf(playerId)}` : name;
}
