import { readFileSync } from 'node:fs';
import { transform } from 'sucrase';
import {
  type BrowserFile,
  BrowserFiles,
  BrowserModules,
  browserText,
  fillTemplate,
} from '../../http/browser-files.ts';

const folder = new URL('../../web/dashboard/', import.meta.url);

/** The libraries that modules of the dashboard may name, in the form for browsers. */
const packages = {
  ...Object.fromEntries(
    [
      'preact',
      'preact/hooks',
      'preact/jsx-runtime',
      'preact-iso/router',
      '@preact/signals',
      '@preact/signals-core',
    ].map(specifier => [specifier, new URL(import.meta.resolve(specifier))]),
  ),
  uplot: new URL(import.meta.resolve('uplot/dist/uPlot.esm.js')),
};

/** Style sheets in the order of their rules; all of them are one file. */
const styleSheets = [
  'tokens',
  'base',
  'controls',
  'parts',
  'windows',
  'figures',
  'shell',
  'account',
  'overview',
  'live',
  'videos',
  'uploads',
  'video',
  'look',
  'build',
  'analytics',
] as const;

/** Set when the dashboard is in use, so that no page flashes in the other theme first. */
const themeScript = new URL('theme-at-start.ts', folder);

/** What the dashboard is made of. */
export interface DashboardFiles {
  /** The one page; which part of the dashboard it shows is decided in the browser. */
  readonly page: BrowserFile;
  /** By the name in `/dashboard/assets/{name}`; a file under a name never changes. */
  readonly byName: ReadonlyMap<string, BrowserFile>;
}

/** Makes JavaScript of the dashboard's sources. Takes some hundred milliseconds of processor time. */
export async function loadDashboardFiles(): Promise<DashboardFiles> {
  const files = new BrowserFiles('/dashboard/assets/');
  const modules = new BrowserModules({ files, packages, compile });
  const styles = [
    ...styleSheets.map(name => read(`styles/${name}.css`)),
    readPackage('uplot/dist/uPlot.min.css'),
  ];
  const page = fillTemplate(read('page.html'), {
    ...(await modules.addScript(new URL('main.tsx', folder))),
    theme: (await modules.addScript(themeScript)).script,
    styles: files.add('dashboard', 'css', styles.join('\n'), 'text/css; charset=utf-8'),
    icon: files.add('icon', 'svg', read('../player/icon.svg'), 'image/svg+xml'),
  });
  return {
    page: { text: await browserText(page), contentType: 'text/html; charset=utf-8' },
    byName: await files.compressed(),
  };
}

function compile(source: string, path: string): string {
  return transform(source, {
    transforms: path.endsWith('x') ? ['typescript', 'jsx'] : ['typescript'],
    jsxRuntime: 'automatic',
    jsxImportSource: 'preact',
    production: true,
    disableESTransforms: true,
    keepUnusedImports: true,
    filePath: path,
  }).code;
}

function read(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8');
}

function readPackage(path: string): string {
  return readFileSync(new URL(import.meta.resolve(path)), 'utf8');
}
