import type { Migration } from '../migration.ts';
import { addColumn } from '../schema/table.ts';

export const watermarkNames: Migration = {
  name: 'names of watermarks',
  sql: dialect => addColumn(dialect, 'watermarks', 'name', 'text'),
};
