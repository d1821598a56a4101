/**
 * The PostgreSQL server of a whole run: environment variables with its URL, and with the path of its data folder as it was at the
 * start, which other servers copy; and the name of a database with all tables, in both.
 */
export const sharedPostgres = {
  url: 'MILLRACE_TEST_POSTGRES',
  data: 'MILLRACE_TEST_POSTGRES_DATA',
  template: 'millrace',
} as const;
