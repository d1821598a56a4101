/** A migration. Once released it never changes; further changes need a new migration. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}
