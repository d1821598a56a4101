import {
  DummyDriver,
  Kysely,
  type LimitNode,
  type OffsetNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  ValueNode,
} from 'kysely';
import type { Queries } from './connection.ts';
import type { Tables } from './tables.ts';

/** Builds queries for SQLite. */
export function sqliteQueries(): Queries {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: db => new SqliteIntrospector(db),
      createQueryCompiler: () => new LiteralLimits(),
    },
  });
}

/**
 * Writes limits, and the offset of first pages, as literals: with a parameter, SQLite prepares the statement again at each run. Other
 * offsets are too many: each would be a statement of its own.
 */
class LiteralLimits extends SqliteQueryCompiler {
  protected override visitLimit({ limit }: LimitNode): void {
    this.append('limit ');
    if (ValueNode.is(limit) && Number.isSafeInteger(limit.value)) this.append(String(limit.value));
    else this.visitNode(limit);
  }

  protected override visitOffset({ offset }: OffsetNode): void {
    this.append('offset ');
    if (ValueNode.is(offset) && offset.value === 0) this.append('0');
    else this.visitNode(offset);
  }
}
