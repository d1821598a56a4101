import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Absolute path of the project's folder, without a slash at the end. */
export const projectRoot: string = fileURLToPath(new URL('..', import.meta.url)).replace(/[/\\]$/, '');

/** The content of a file, by its path in the project. */
export function readProjectFile(path: string): string {
  return readFileSync(`${projectRoot}/${path}`, 'utf8');
}

/** Every source text of the server, by its path under `src/`, with `/` between folders. */
export function readSources(): Map<string, string> {
  const paths = globSync('**/*.{ts,tsx}', { cwd: `${projectRoot}/src` }).map(path =>
    path.replaceAll('\\', '/'),
  );
  return new Map(paths.sort().map(path => [path, readProjectFile(`src/${path}`)]));
}

/** Names of the packages that the server is installed with, without those for development. */
export function dependencyNames(): Set<string> {
  const { dependencies } = JSON.parse(readProjectFile('package.json')) as {
    dependencies: Record<string, string>;
  };
  return new Set(Object.keys(dependencies));
}

/** Paths of all files that are, or would be, committed. */
export function committedPaths(): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: projectRoot,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return listed.split('\0').filter(path => path !== '' && existsSync(`${projectRoot}/${path}`));
}
