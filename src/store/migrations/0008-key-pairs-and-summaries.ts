import type { Migration } from '../migration.ts';

/** Names of API key pairs, summaries of videos, what lists of tags are read from. */
export const keyPairsAndSummaries: Migration = {
  name: 'key pairs and summaries',
  sql: '',
};
