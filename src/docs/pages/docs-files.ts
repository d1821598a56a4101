import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { stripTypes } from '../../http/browser-files.ts';

const compress = promisify(gzip);
const folder = new URL('../../web/docs/', import.meta.url);
const icon = new URL('../../web/player/icon.svg', import.meta.url);

/** A text that is sent plain or gzipped. */
export interface DocsText {
  readonly contentType: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
  /** Weak: it stands for both forms. */
  readonly etag: string;
}

/** What the documentation is made of. */
export interface DocsFiles {
  /** By the name in `/docs/assets/{name}`; a name holds a version or a hash, so a file under it never changes. */
  readonly byName: ReadonlyMap<string, DocsText>;
  /** Templates with `{{name}}` where a value goes. */
  readonly page: string;
  readonly error: string;
  /** Addresses of the files, for the templates. */
  readonly links: Readonly<Record<'icon' | 'styles' | 'script' | 'viewer' | 'viewerStyles', string>>;
}

/** Reads the documentation and the viewer of the API document. Files are read and compressed beside the event loop. */
export async function loadDocsFiles(): Promise<DocsFiles> {
  const byName = new Map<string, DocsText>();
  const add = async (name: string, content: Buffer, contentType: string): Promise<string> => {
    byName.set(name, await docsText(content, contentType));
    return `/docs/assets/${name}`;
  };
  const addOwn = (base: string, extension: string, content: Buffer, contentType: string) =>
    add(`${base}-${hashOf(content)}.${extension}`, content, contentType);

  const require = createRequire(import.meta.url);
  const { version } = require('swagger-ui-dist/package.json') as { version: string };
  const viewerFile = (name: string) => readFile(require.resolve(`swagger-ui-dist/${name}`));
  const script = 'text/javascript; charset=utf-8';
  const styles = 'text/css; charset=utf-8';
  const [iconFile, ownStyles, ownScript, viewer, viewerStyles, page, error] = await Promise.all([
    readFile(icon),
    readFile(new URL('docs.css', folder)),
    readFile(new URL('main.ts', folder), 'utf8'),
    viewerFile('swagger-ui-bundle.js'),
    viewerFile('swagger-ui.css'),
    readFile(new URL('page.html', folder), 'utf8'),
    readFile(new URL('error.html', folder), 'utf8'),
  ]);
  const links = {
    icon: await addOwn('icon', 'svg', iconFile, 'image/svg+xml'),
    styles: await addOwn('docs', 'css', ownStyles, styles),
    script: await addOwn('docs', 'js', Buffer.from(stripTypes(ownScript)), script),
    viewer: await add(`swagger-ui-bundle-${version}.js`, viewer, script),
    viewerStyles: await add(`swagger-ui-${version}.css`, viewerStyles, styles),
  };
  return { byName, page, error, links };
}

/** A text as it is sent. */
export async function docsText(content: Buffer | string, contentType: string): Promise<DocsText> {
  const plain = Buffer.from(content);
  return { contentType, plain, gzip: await compress(plain), etag: `W/"${hashOf(plain)}"` };
}

function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}
