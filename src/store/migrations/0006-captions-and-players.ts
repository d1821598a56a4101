import type { Migration } from '../migration.ts';

/** Captions and chapters of videos, player themes. */
export const captionsAndPlayers: Migration = {
  name: 'captions and players',
  sql: '',
};
