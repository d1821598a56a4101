import { AppError } from '../../shared/errors.ts';

export type SqliteValue = bigint | number | string | Buffer | null;
/**
 * Types of values that are copied as text, which both databases can read; numbers with a fraction and bytes too.
 */
type ValueKind = 'integer' | 'real' | 'text' | 'bytes';

export interface CopiedColumn {
  readonly name: string;
  /** Type such as `bigint`. */
  readonly type: string;
}

const kinds: Readonly<Record<string, ValueKind>> = {
  smallint: 'integer',
  bigint: 'integer',
  'double precision': 'real',
  text: 'text',
  bytea: 'bytes',
};

/** Returns PostgreSQL's text of a value of SQLite. @throws AppError `database-unusable` for one that it cannot store */
export function postgresText(value: SqliteValue, { name, type }: CopiedColumn): string | null {
  if (value === null) return null;
  const kind = kinds[type];
  if (kind === 'integer' && typeof value === 'bigint') return value.toString();
  // SQLite keeps a fraction in a column of integers.
  if (kind === 'integer' && typeof value === 'number' && Number.isFinite(value))
    return BigInt(Math.round(value)).toString();
  if (kind === 'real' && (typeof value === 'number' || typeof value === 'bigint'))
    return String(Number(value));
  if (kind === 'bytes' && Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (kind === 'text' && typeof value === 'string') {
    if (!value.includes('\0')) return value;
    throw new AppError(
      'database-unusable',
      `the column ${name} has a text with the character U+0000, which PostgreSQL cannot store: ${JSON.stringify(value.slice(0, 80))}`,
    );
  }
  throw new AppError('database-unusable', `the column ${name} (${type}) has a value that is not ${kind}`);
}

/** Differs for different values of a column; the same for each text that PostgreSQL may return for a value. */
export function canonicalText(text: string | null, { type }: CopiedColumn): string {
  if (text === null) return '-';
  const value = kinds[type] === 'real' ? String(Number(text)) : text;
  return `${value.length}:${value}`;
}
