import { readFile } from 'node:fs/promises';
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
  return {
    byName: files,
    page: await readFile(new URL('page.html', folder), 'utf8'),
    error: await readFile(new URL('error.html', folder), 'utf8'),
    links: {
      base: bundles.basePath,
      icon: urlOf('icon'),
      styles: urlOf('docs-page'),
      script: urlOf('docs'),
      viewer: urlOf('viewer'),
      viewerStyles: urlOf('viewer-styles'),
    },
  };
}

export async function docsFile(content: Buffer | string, contentType: string): Promise<BrowserFile> {
  return { text: await browserText(content), contentType };
}
