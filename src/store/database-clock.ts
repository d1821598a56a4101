import { type Expression, sql } from 'kysely';
import type { Clock } from '../shared/clock.ts';
import type { Connection } from './connection.ts';

/**
 * Unix time in milliseconds of what all nodes share: the clock of PostgreSQL, or that of the only server. It stands still
 * during a statement, so that indexes can use it.
 */
export function databaseNowMs({ dialect }: Pick<Connection, 'dialect'>, clock: Clock): Expression<number> {
  return dialect === 'postgres'
    ? sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`
    : sql<number>`${clock.nowMs()}`;
}
