import { type EmailAddress, readEmail } from '../../shared/email-address.ts';
import type { Migration } from '../migration.ts';

interface StoredEmail {
  readonly id: string;
  readonly email: string;
  /** Two rows with the same scope cannot have the same address. */
  readonly scope: string;
  readonly created_at_ms: number | string;
}

const columns = 'id, account_id, email, password_hash, created_at_ms';

/**
 * Gives each email address one spelling, compared byte by byte. Users whose address is none any more, or belongs to another
 * user, too, keep everything but the address: `former_email` has it until the operator gives them another one. Such
 * invitations end.
 */
export const canonicalEmails: Migration = {
  name: 'canonical email addresses',
  // Older nodes look addresses up in any spelling.
  isCompatible: false,
  rebuiltTable: 'users',
  sql: `
    CREATE TABLE canonical_users (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      email TEXT NOT NULL UNIQUE,
      password_hash TEXT NOT NULL,
      created_at_ms INTEGER NOT NULL,
      former_email TEXT
    ) STRICT, WITHOUT ROWID;
    INSERT INTO canonical_users (${columns}) SELECT ${columns} FROM users;
    DROP TABLE users;
    ALTER TABLE canonical_users RENAME TO users;
    CREATE INDEX users_by_account ON users (account_id);
  `,
  sqlOfPostgres: `
    ALTER TABLE users ALTER COLUMN email TYPE TEXT;
    ALTER TABLE users ADD COLUMN former_email TEXT;
    DROP COLLATION nocase;
  `,
  rewrites: [
    {
      select: `SELECT id, email, '' AS scope, created_at_ms FROM users`,
      statements: rows => {
        const { kept, refused } = canonicalRows(rows as readonly StoredEmail[]);
        // The domain never exists (RFC 6761), so nobody can have the address.
        const replaced = refused.map(
          ({ id, email }) =>
            `UPDATE users SET email = ${quoted(`${id.toLowerCase()}@replaced.invalid`)}, former_email = ${quoted(email)} WHERE id = ${quoted(id)}`,
        );
        return [...replaced, ...renamed('users', kept)];
      },
    },
    {
      select: 'SELECT id, email, account_id AS scope, created_at_ms FROM invitations',
      statements: rows => {
        const { kept, refused } = canonicalRows(rows as readonly StoredEmail[]);
        const ended = refused.map(({ id }) => `DELETE FROM invitations WHERE id = ${quoted(id)}`);
        return [...ended, ...renamed('invitations', kept)];
      },
    },
  ],
};

/** Picks the row that keeps an address: the one with its only spelling, or else the oldest. */
function canonicalRows(rows: readonly StoredEmail[]) {
  const kept = new Map<string, StoredEmail & { readonly canonical: EmailAddress }>();
  const refused: StoredEmail[] = [];
  const rank = ({ email, created_at_ms }: StoredEmail) =>
    readEmail(email).email === email ? -1 : Number(created_at_ms);
  for (const row of rows.toSorted((one, other) => rank(one) - rank(other))) {
    const canonical = readEmail(row.email).email;
    const key = JSON.stringify([row.scope, canonical]);
    if (canonical === undefined || kept.has(key)) refused.push(row);
    else kept.set(key, { ...row, canonical });
  }
  return { kept: [...kept.values()], refused };
}

function renamed(
  table: string,
  rows: readonly { readonly id: string; readonly email: string; readonly canonical: EmailAddress }[],
): string[] {
  return rows
    .filter(({ email, canonical }) => email !== canonical)
    .map(({ id, canonical }) => `UPDATE ${table} SET email = ${quoted(canonical)} WHERE id = ${quoted(id)}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll('\0', '').replaceAll("'", "''")}'`;
}
