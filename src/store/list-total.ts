import type { Connection } from './connection.ts';

export async function listTotal(
  connection: Connection,
  projectId: string,
  ...lists: string[]
): Promise<number> {
  const totals = connection.queries
    .selectFrom('list_totals')
    .select('total')
    .where('project_id', '=', projectId)
    .where('list', 'in', lists);
  return (await connection.all(totals)).reduce((sum, { total }) => sum + total, 0);
}
