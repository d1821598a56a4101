import { AppError } from '../shared/errors.ts';
import { baseline } from './schema/baseline.ts';

/** The schema of a database. Both are that of the baseline plus a number of migrations. */
export interface SchemaVersion {
  readonly version: number;
  /** Versions of the product that know a lower one cannot use it. Undefined before it was stored. */
  readonly minVersion: number | undefined;
}

/**
 * A newer node may have migrated while this one is of an older version: that is fine until a migration is not compatible.
 * @param database such as `The PostgreSQL database`
 * @throws AppError `database-unusable` when it needs a newer version of the product
 */
export function assertNotTooNew(
  database: string,
  { version, minVersion }: SchemaVersion,
  known: number,
): void {
  if (version <= known || (minVersion !== undefined && minVersion <= known)) return;
  throw new AppError(
    'database-unusable',
    `${database} has schema ${version} of a newer version; this version supports up to ${known}. Use the newer version.`,
  );
}

/** @throws AppError `database-unusable` when only an earlier version of the product can migrate it */
export function assertMigratable(database: string, { version }: SchemaVersion): void {
  if (version === 0 || version >= baseline.version) return;
  throw new AppError(
    'database-unusable',
    `${database} has schema ${version} of an older version, which this one cannot migrate. Open it once with the version of commit ${baseline.commit}, which migrates it to ${baseline.version}, and then with this one.`,
  );
}

/** @throws AppError `database-unusable` when it was not migrated */
export function assertNotTooOld(database: string, found: SchemaVersion, known: number): void {
  assertMigratable(database, found);
  const { version } = found;
  if (version >= known) return;
  throw new AppError(
    'database-unusable',
    `${database} has schema ${version} of an older version. Start this version of the server once to migrate it to ${known}.`,
  );
}
