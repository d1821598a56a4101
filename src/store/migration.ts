/** Never changes once released; further changes need a new migration. */
export interface Migration {
  readonly name: string;
  readonly sql: string;
}
