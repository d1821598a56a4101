import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Absolute path of the project's folder, without a slash at the end. */
export const projectRoot: string = fileURLToPath(new URL('..', import.meta.url)).replace(/[/\\]$/, '');

export function readProjectFile(path: string): string {
  return readFileSync(`${projectRoot}/${path}`, 'utf8');
}

/** Reads every source file of the server, by its path under `src/` with slashes. */
export function readSources(): Map<string, string> {
  const paths = globSync('**/*.{ts,tsx}', { cwd: `${projectRoot}/src` }).map(path =>
    path.replaceAll('\\', '/'),
  );
  return new Map(paths.sort().map(path => [path, readProjectFile(`src/${path}`)]));
}

/** Returns the packages of a production install, or of `kind`. */
export function dependencyNames(kind?: 'devDependencies'): Set<string> {
  const about = JSON.parse(readProjectFile('package.json')) as Record<
    'dependencies' | 'optionalDependencies' | 'devDependencies',
    Record<string, string>
  >;
  const found = kind === undefined ? { ...about.dependencies, ...about.optionalDependencies } : about[kind];
  return new Set(Object.keys(found));
}

/** Lists all files that are, or would be, committed. */
export function committedPaths(): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: projectRoot,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return listed.split('\0').filter(path => path !== '' && existsSync(`${projectRoot}/${path}`));
}
