import type Sqlite from 'better-sqlite3';
import { foldText } from './folded-text.ts';

/** `fold_text(text)` is {@link foldText}. */
export function addSqlFunctions(sqlite: Sqlite.Database): void {
  sqlite.function('fold_text', { deterministic: true, directOnly: false }, text => foldText(String(text)));
}
