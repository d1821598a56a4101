/** Environment variable with the path of a database that has all tables and no rows, for tests to copy. */
export const sqliteTemplate = 'MILLRACE_TEST_SQLITE';
