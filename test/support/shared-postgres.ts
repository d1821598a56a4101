/** The PostgreSQL server of a whole run: the environment variable with its URL, and a database with all tables to copy. */
export const sharedPostgres = { url: 'MILLRACE_TEST_POSTGRES', template: 'millrace' } as const;
