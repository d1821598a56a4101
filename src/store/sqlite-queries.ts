import {
  DummyDriver,
  Kysely,
  type LimitNode,
  type OffsetNode,
  type OperationNode,
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

/** Writes limits as literals: with one that is a parameter, SQLite prepares the statement again at each run. */
class LiteralLimits extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit ');
    this.#appendCount(node.limit);
  }

  protected override visitOffset(node: OffsetNode): void {
    this.append('offset ');
    this.#appendCount(node.offset);
  }

  #appendCount(node: OperationNode): void {
    if (ValueNode.is(node) && Number.isSafeInteger(node.value)) this.append(String(node.value));
    else this.visitNode(node);
  }
}
