import { AppError } from '../shared/errors.ts';

/** The schema of a database. Both count migrations. */
export interface SchemaVersion {
  readonly version: number;
  /** Versions of the product that know fewer migrations cannot use it. Undefined before it was stored. */
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

/** @throws AppError `database-unusable` when it was not migrated */
export function assertNotTooOld(database: string, { version }: SchemaVersion, known: number): void {
  if (version >= known) return;
  throw new AppError(
    'database-unusable',
    `${database} has schema ${version} of an older version. Start this version of the server once to migrate it to ${known}.`,
  );
}
