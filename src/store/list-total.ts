import type { Database } from './database.ts';

export function listTotal(database: Database, projectId: string, ...lists: string[]): number {
  const totals = database.queries
    .selectFrom('list_totals')
    .select('total')
    .where('project_id', '=', projectId)
    .where('list', 'in', lists);
  return database.all(totals).reduce((sum, { total }) => sum + total, 0);
}
