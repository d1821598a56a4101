/** One step of the schema. Once released it never changes: what is to be different is a further step. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}
