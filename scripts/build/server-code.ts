/** Bundles the server: Node then loads tens of files instead of hundreds. Other packages than {@link bundledPackages} stay in `node_modules`. */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { basename, join, relative } from 'node:path';
import { build, type Plugin, transform } from 'esbuild';
import packageJson from '../../package.json' with { type: 'json' };
import { projectRoot, readSources } from '../project-files.ts';

/** Packages of hundreds of modules, of which the server uses a part. */
const bundledPackages = ['kysely', 'zod'];
const externalPackages = [
  ...Object.keys(packageJson.dependencies),
  ...Object.keys(packageJson.optionalDependencies),
].filter(name => !bundledPackages.includes(name));

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

/**
 * Modules that are required: an import of `node:http` reads all that it exports, of which a part loads Node's `fetch`, and takes 6 MB
 * that an idle server does not need. The router imports it, too.
 */
const requiredModules: Readonly<Record<string, readonly string[]>> = {
  'node:http': Object.entries(Object.getOwnPropertyDescriptors(http)).flatMap(([name, { value }]) =>
    value === undefined ? [] : name,
  ),
  '@koa/router': ['default'],
};

const requireModules: Plugin = {
  name: 'require-modules',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^(node:http|@koa\/router)$/ }, ({ path }) => ({ path, namespace: 'required' }));
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: [
        `import { createRequire } from 'node:module';`,
        `const required = createRequire(import.meta.url)('${path}');`,
        ...requiredModules[path]!.map(name =>
          name === 'default'
            ? 'export default required.default;'
            : `export const ${name} = required.${name};`,
        ),
      ].join('\n'),
    }));
  },
};

/** A comment with a letter that is not Latin doubles the memory of a module's source. */
const dropComments: Plugin = {
  name: 'drop-comments',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[\\/]node_modules[\\/].*\.js$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path), { minifyWhitespace: true });
      return { contents: code };
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
    external: externalPackages,
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    legalComments: 'none',
    logLevel: 'silent',
    tsconfigRaw: {},
    plugins: [keepUrls, requireModules, dropComments],
  });
  const files = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
  for (const path of globSync('**/*.*', { cwd: sources, exclude: ['**/*.{ts,tsx,css,json}'] })) {
    files.set(path, await readFile(join(sources, path)));
  }
  return files;
}
