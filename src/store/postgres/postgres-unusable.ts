import { AppError, messageOf, systemCodeOf } from '../../shared/errors.ts';
import { withoutPassword } from '../../shared/network/postgres-url.ts';

const settingName = 'MILLRACE_DATABASE_URL (or the setting database.url)';

/** Says what happened and what to do, without the password. @param source names where the URL is from */
export function postgresUnusable(url: string, error: unknown, source = settingName): AppError {
  if (error instanceof AppError) return error;
  const reason = `${reasonOf(error)}. ${adviceFor(systemCodeOf(error), source)}`;
  return new AppError(
    'database-unusable',
    `The PostgreSQL database ${withoutPassword(url)} cannot be used: ${reason}`,
    { cause: error },
  );
}

/** A host with several addresses fails with one error for each. */
export function reasonOf(error: unknown): string {
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  return errors.map(messageOf).join('; ').replace(/\.$/, '');
}

/** **Source**: PostgreSQL 17, appendix A, "PostgreSQL Error Codes" */
function adviceFor(code: string | undefined, source: string): string {
  switch (code) {
    case '28P01':
    case '28000':
      return `Check the user and the password in ${source}, and pg_hba.conf of PostgreSQL.`;
    case '3D000':
      return `Create the database, as with "createdb --encoding=UTF8 NAME", or check its name in ${source}.`;
    case '08P01':
      return `A connection pooler seems to refuse it: use pool_mode = session, check its other settings, or give the address of PostgreSQL itself in ${source}.`;
    case '25006':
      return `It is a standby, or was made read-only: give the address of the primary in ${source}.`;
    case '42501':
      return 'Make the user the owner of the database.';
    case '0A000':
    case '58P01':
      return 'It needs the extension pg_trgm: install the contrib package of PostgreSQL.';
    default:
      return `Check that PostgreSQL is running, and the address in ${source}.`;
  }
}
