import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { BrowserBundles } from '../../http/pages/browser-bundles.ts';
import { type BrowserFile, browserText } from '../../http/pages/browser-text.ts';

const folder = new URL('../../web/docs/', import.meta.url);

export interface DocsFiles {
  /** Names contain a version or a hash: their files never change. */
  readonly byName: ReadonlyMap<string, BrowserFile>;
  readonly page: string;
  readonly error: string;
  readonly links: Readonly<Record<'base' | 'icon' | 'styles' | 'script' | 'viewer' | 'viewerStyles', string>>;
}

export async function loadDocsFiles(bundles: BrowserBundles): Promise<DocsFiles> {
  const { files, urlOf } = await bundles.load('docs');
  const byName = new Map(files);
  const require = createRequire(import.meta.url);
  const { version } = require('swagger-ui-dist/package.json') as { version: string };
  const addViewerFile = async (name: string, extension: string, contentType: string) => {
    const content = await readFile(require.resolve(`swagger-ui-dist/${name}.${extension}`));
    const versioned = `${name}-${version}.${extension}`;
    byName.set(versioned, await docsFile(content, contentType));
    return `${bundles.basePath}/docs/assets/${versioned}`;
  };
  return {
    byName,
    page: await readFile(new URL('page.html', folder), 'utf8'),
    error: await readFile(new URL('error.html', folder), 'utf8'),
    links: {
      base: bundles.basePath,
      icon: urlOf('icon'),
      styles: urlOf('docs-page'),
      script: urlOf('docs'),
      viewer: await addViewerFile('swagger-ui-bundle', 'js', 'text/javascript; charset=utf-8'),
      viewerStyles: await addViewerFile('swagger-ui', 'css', 'text/css; charset=utf-8'),
    },
  };
}

export async function docsFile(content: Buffer | string, contentType: string): Promise<BrowserFile> {
  return { text: await browserText(content), contentType };
}
