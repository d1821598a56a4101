import type Sqlite from 'better-sqlite3';
import { foldText } from './folded-text.ts';

/** Gives a connection what triggers and migrations call: `fold_text(text)`, the same as {@link foldText}. */
export function addSqlFunctions(sqlite: Sqlite.Database): void {
  sqlite.function('fold_text', { deterministic: true, directOnly: false }, text => foldText(String(text)));
}
