import { sql } from 'kysely';
import type { Row } from '../store/tables.ts';
import type { NewJob } from './job.ts';

export interface StoredJob extends NewJob {
  readonly id: number;
  readonly payload: unknown;
  readonly attempts: number;
  /** Ends of the process while only this job parsed a file, in a row. */
  readonly crashes: number;
  /** The process ended while it parsed a file. */
  readonly isSuspect: boolean;
}

export const jobColumns = [
  'id',
  'kind',
  'subject_id',
  'payload',
  'priority',
  'attempts',
  'crashes',
  'parsing',
  'group_id',
] as const;

/** A literal: SQLite uses the partial indexes of waiting jobs only for literals. */
export const waiting = sql.lit('waiting' as const);

export function storedJobFrom(row: Pick<Row<'jobs'>, (typeof jobColumns)[number]>): StoredJob {
  return {
    id: row.id,
    kind: row.kind,
    subjectId: row.subject_id,
    payload: JSON.parse(row.payload),
    priority: row.priority,
    attempts: row.attempts,
    crashes: row.crashes,
    isSuspect: row.parsing === 'suspect' || row.crashes > 0,
    groupId: row.group_id,
  };
}
