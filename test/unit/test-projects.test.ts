import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { nameOfRun } from '../../scripts/test-report.ts';
import config from '../../vitest.config.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Project {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
}

const projects = (config.test!.projects as { readonly test: Project }[]).map(({ test: project }) => project);

function matching(patterns: readonly string[] = []): Set<string> {
  return new Set(globSync(patterns, { cwd: root }));
}

function filesOf({ include, exclude }: Project): string[] {
  const excluded = matching(exclude);
  return [...matching(include)].filter(file => !excluded.has(file));
}

test('every test file belongs to one project, and some to one more that repeats them on PostgreSQL, with the usual leases or with the machine’s programs', () => {
  const homes = Map.groupBy(
    projects.flatMap(project => filesOf(project).map(file => ({ file, name: project.name }))),
    ({ file }) => file,
  );
  const all = globSync('test/**/*.test.ts', { cwd: root });
  const names = (file: string) => (homes.get(file) ?? []).map(({ name }) => name);
  const isRepeat = (name: string) => nameOfRun('', name) !== '';
  expect(all.filter(file => names(file).filter(name => !isRepeat(name)).length !== 1)).toEqual([]);
  expect(all.filter(file => names(file).filter(isRepeat).length > 1)).toEqual([]);
});

test('every pattern of a project matches a file', () => {
  const patterns = projects.flatMap(({ include, exclude = [] }) => [...include, ...exclude]);
  expect(patterns.filter(pattern => matching([pattern]).size === 0)).toEqual([]);
});

test('the scripts run projects that there are, and the gate none that `npm test` has run', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const named = (script: string) =>
    [...scripts[script]!.matchAll(/--project[= ](\S+)/g)].map(([, project]) => project);
  const known = projects.map(({ name }) => name);
  const inScripts = ['test', 'test:gate', 'test:unit', 'test:media', 'test:browser'].flatMap(named);
  expect(inScripts.filter(name => !known.includes(name!))).toEqual([]);
  expect(named('test').filter(name => named('test:gate').includes(name))).toEqual([]);
  expect(scripts['test:all']).toBe('vitest run');
});
