import type { Generated } from 'kysely';
import type { Table } from './table.ts';

/** Values of the column types, as Kysely reads and writes them. */
interface Values {
  text: string;
  integer: number;
  real: number;
  bytes: Buffer;
  small: number;
  flag: number;
  hash: Buffer;
  json: string;
  array: string;
  object: string;
  validArray: string;
  number: number;
  uniqueNumber: number;
}

/** The texts of a list such as `'a', 'b'`. */
type TextsOf<List extends string> = List extends `'${infer First}', ${infer Rest}`
  ? First | TextsOf<Rest>
  : List extends `'${infer Only}'`
    ? Only
    : never;

type TypeOf<Sql> = Sql extends `${infer Type} ${string}` ? Type : Sql;

type ValueOf<Sql> = Sql extends `text ${string} IN (${infer List})${string}`
  ? TextsOf<List>
  : TypeOf<Sql> extends keyof Values
    ? Values[TypeOf<Sql>]
    : never;

type Numbered = 'number' | 'uniqueNumber';

type NullableOf<Sql> = Sql extends `${string}NOT NULL${string}` | `${string}PRIMARY KEY${string}` | Numbered
  ? ValueOf<Sql>
  : ValueOf<Sql> | null;

type ColumnOf<Sql> = Sql extends `${string}DEFAULT ${string}` | Numbered
  ? Generated<NullableOf<Sql>>
  : NullableOf<Sql>;

/** A row of a table. @param Own the types of columns that the schema tells less about */
export type RowOf<Described extends Table, Own> = {
  -readonly [Name in Exclude<keyof Described['columns'], keyof Own>]: ColumnOf<Described['columns'][Name]>;
} & Own;
