import { type Selectable, sql } from 'kysely';
import type { JobRow } from '../store/event-tables.ts';
import type { NewJob } from './job.ts';

export interface StoredJob extends NewJob {
  readonly id: number;
  readonly payload: unknown;
  readonly attempts: number;
  readonly crashes: number;
}

export const jobColumns = [
  'id',
  'kind',
  'subject_id',
  'payload',
  'priority',
  'attempts',
  'crashes',
  'group_id',
] as const;

/** A literal: SQLite uses the partial indexes of waiting jobs only for literals. */
export const waiting = sql.lit('waiting' as const);

export function storedJobFrom(row: Pick<Selectable<JobRow>, (typeof jobColumns)[number]>): StoredJob {
  return {
    id: row.id,
    kind: row.kind,
    subjectId: row.subject_id,
    payload: JSON.parse(row.payload),
    priority: row.priority,
    attempts: row.attempts,
    crashes: row.crashes,
    groupId: row.group_id,
  };
}
