import type { Dialect } from './table.ts';

/** Statements of the body end with semicolons. */
export type Trigger = readonly [name: string, event: string, body: string, when?: string];

export function createTrigger(dialect: Dialect, [name, event, body, when]: Trigger): string {
  if (dialect === 'sqlite') {
    return `CREATE TRIGGER ${name} ${event}${when === undefined ? '' : ` WHEN ${when}`} BEGIN ${body}\nEND;\n`;
  }
  return `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN ${body}
  RETURN NEW;
END $body$;
CREATE TRIGGER ${name} ${event} FOR EACH ROW${when === undefined ? '' : ` WHEN (${when})`}
  EXECUTE FUNCTION ${name}();
`;
}
