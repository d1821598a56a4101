/** Bundles the server: Node then loads tens of files instead of hundreds. Packages stay in `node_modules`. */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { projectRoot, readSources } from '../project-files.ts';

const sources = join(projectRoot, 'src');
/** Address of a thread's module. */
const workerUrl = /new URL\('\.\/(?<name>[\w-]+)\.ts', import\.meta\.url\)/g;

/** Files that modules find beside themselves have the same place in a build as among the sources. */
const keepUrls: Plugin = {
  name: 'keep-urls',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const url = `new URL('./${relative(sources, path).replaceAll('\\', '/')}', import.meta.url).href`;
      const contents = (await readFile(path, 'utf8')).replace(
        new RegExp(`${workerUrl.source}|import\\.meta\\.url`, 'g'),
        (found, name?: string) => (name === undefined ? url : found.replace('.ts', '.js')),
      );
      return { contents, loader: 'ts' };
    });
  },
};

/** Returns the files of a build by their paths in it. */
export async function buildServerCode(): Promise<Map<string, Uint8Array>> {
  const workers = [...readSources()].flatMap(([path, text]) =>
    [...text.matchAll(workerUrl)].map(found => join(path, '..', `${found.groups!.name}.ts`)),
  );
  const { outputFiles } = await build({
    absWorkingDir: sources,
    entryPoints: ['main.ts', ...workers],
    entryNames: '[name]',
    outdir: sources,
    write: false,
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    legalComments: 'none',
    logLevel: 'silent',
    tsconfigRaw: {},
    plugins: [keepUrls],
  });
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
  for (const path of globSync('**/*.*', { cwd: sources, exclude: ['**/*.{ts,tsx,css,json}'] })) {
    files.set(path, await readFile(join(sources, path)));
  }
  return files;
}
