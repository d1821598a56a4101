import type { Environment } from '../../../store/tables.ts';

/** The name of the project that comes with an account. */
export const firstProjectName = 'Default';

/** A project as users see it: a sandbox and a production project with a name. */
export interface ProjectPair {
  readonly pairId: string;
  readonly name: string;
  readonly createdAtMs: number;
  readonly projectIds: Readonly<Record<Environment, string>>;
}
