import { describe, expect, test } from 'vitest';
import { describeUrlProblem, withoutPassword } from '../../../../src/shared/network/postgres-url.ts';

describe('a PostgreSQL URL', () => {
  test.each([
    'postgres://millrace:a-password@db.example.org:5432/millrace',
    'postgresql://millrace@localhost/millrace?sslmode=require',
    'postgres:///millrace?host=/run/postgresql',
    'postgres://millrace:%23%2F%40@[::1]/millrace',
  ])('%s is accepted', url => {
    expect(describeUrlProblem(url)).toBeUndefined();
  });

  test.each([
    ['another scheme', 'mysql://millrace:a-password@db/millrace'],
    ['no URL', 'a-password'],
    ['no database', 'postgres://millrace:a-password@db'],
    ['a database in a folder', 'postgres://millrace:a-password@db/a/b'],
    ['# in the password', 'postgres://millrace:1#a-password@db/millrace'],
    ['/ in the password', 'postgres://millrace:1/a-password@db/millrace'],
    ['? in the password', 'postgres://millrace:1?a-password@db/millrace'],
  ])('with %s is refused without showing any of it', (_, url) => {
    expect(describeUrlProblem(url)).toBeDefined();
    expect(describeUrlProblem(url)).not.toContain('a-password');
  });

  test.each([
    [
      'postgres://millrace:a-password@db:5433/millrace?sslmode=require',
      'postgres://millrace@db:5433/millrace',
    ],
    ['postgres://db/millrace?user=millrace&password=a-password', 'postgres://db/millrace'],
    ['postgres://u@localhost/m?host=%2Frun%2Fpg', 'postgres://u@localhost/m?host=/run/pg'],
  ])('%s is shown without its password', (url, shown) => {
    expect(withoutPassword(url)).toBe(shown);
  });
});
