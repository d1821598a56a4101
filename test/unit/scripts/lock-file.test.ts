import { expect, test } from 'vitest';
import { lockFileProblems } from '../../../scripts/lock-file.ts';

function problemsOf(packages: object): string[] {
  return lockFileProblems(JSON.stringify({ packages }));
}

test('a lock file that holds all it needs is fine', () => {
  expect(
    problemsOf({
      '': { dependencies: { a: '^1.0.0' } },
      'node_modules/a': { dependencies: { b: '1.0.0' }, optionalDependencies: { '@c/linux': '1.0.0' } },
      'node_modules/a/node_modules/b': { dependencies: { a: '1.0.0' } },
      'node_modules/@c/linux': {},
    }),
  ).toEqual([]);
});

test('an address is refused', () => {
  expect(problemsOf({ '': {}, 'node_modules/a': { resolved: 'https://example.com/a.tgz' } })).toEqual([
    'package-lock.json: node_modules/a names where it came from',
  ]);
});

test('a package that was left out is refused', () => {
  expect(
    problemsOf({
      '': { dependencies: { a: '^1.0.0' } },
      'node_modules/a': { optionalDependencies: { 'a-darwin': '1.0.0' } },
      'node_modules/b/node_modules/a-darwin': {},
    }),
  ).toEqual(['package-lock.json: a-darwin, which node_modules/a needs, is missing']);
});

test('a dependency of the project itself that was left out is refused', () => {
  expect(problemsOf({ '': { dependencies: { a: '^1.0.0' } } })).toEqual([
    'package-lock.json: a, which the project needs, is missing',
  ]);
});

test('a package that comes built may not be built again', () => {
  expect(problemsOf({ 'node_modules/better-sqlite3': {} })).toEqual([
    'package-lock.json: put "gypfile": false into better-sqlite3, so that npm does not build it',
  ]);
  expect(problemsOf({ 'node_modules/better-sqlite3': { gypfile: false } })).toEqual([]);
});
