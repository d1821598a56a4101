import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { constants, gzipSync } from 'node:zlib';
import type { RenderedText } from './live-source.ts';
import type { Thumbnail } from './thumbnails.ts';

const folder = new URL('../web/player/', import.meta.url);

/**
 * By the name under which the player's modules import hls.js: the build of it that viewers get, and its name as a file.
 * The light one knows no audio renditions, which videos and ladders have.
 */
const hlsBuilds: Readonly<Record<string, { readonly path: string; readonly name: string }>> = {
  'hls.js': { path: 'hls.js/dist/hls.light.min.mjs', name: 'hls' },
  'hls.js/dist/hls.min.mjs': { path: 'hls.js/dist/hls.min.mjs', name: 'hls-full' },
};

/** A file of the player page. Its URL holds a hash of its content, so it can be kept for ever. */
export interface PlayerFile {
  readonly text: RenderedText;
  readonly contentType: string;
}

/** The player page, the pages beside it, and the files that they name. */
export interface PlayerFiles {
  /** By the name in `/assets/{name}`. */
  readonly byName: ReadonlyMap<string, PlayerFile>;
  /** The page of a live stream, with `{{name}}` where a value goes. */
  readonly page: string;
  /** The page of a video, likewise. */
  readonly vodPage: string;
  /** The page for a stream that does not exist; complete. */
  readonly notFound: RenderedText;
  /** The same for a video. */
  readonly vodNotFound: RenderedText;
  /** The page at the root of the server; complete. */
  readonly home: RenderedText;
  /** A JPEG for streams without a thumbnail. */
  readonly placeholder: Thumbnail;
}

/**
 * Reads the player's sources, strips the types off its TypeScript, and gives every file a name made of its content.
 * Takes some hundred milliseconds, most of them for compressing hls.js.
 */
export function loadPlayerFiles(): PlayerFiles {
  const byName = new Map<string, PlayerFile>();
  const moduleUrls = new Map<string, string>();
  const importsByModule = new Map<string, ReadonlySet<string>>();

  const add = (baseName: string, extension: string, content: string, contentType: string): string => {
    const text = renderText(content);
    const name = `${baseName}-${text.etag.slice(1, -1)}.${extension}`;
    byName.set(name, { text, contentType });
    return `/assets/${name}`;
  };

  /** Adds what a module imports before it, since its own hash depends on their names. */
  const addModule = (specifier: string): string => {
    const known = moduleUrls.get(specifier);
    if (known !== undefined) return known;
    let url: string;
    const hlsBuild = hlsBuilds[specifier];
    if (hlsBuild !== undefined) {
      const path = createRequire(import.meta.url).resolve(hlsBuild.path);
      const content = withoutSourceMap(readFileSync(path, 'utf8'));
      url = add(hlsBuild.name, 'js', content, 'text/javascript; charset=utf-8');
    } else {
      const source = withoutComments(stripTypes(readFileSync(new URL(specifier, folder), 'utf8')));
      const imports = new Set<string>();
      importsByModule.set(specifier, imports);
      const content = source.replace(
        /(\bfrom\s*|\bimport\s*\(?)'(\.\/[\w-]+\.ts|hls\.js(?:\/[\w./-]+)?)'/g,
        (_, keyword: string, imported: string) => {
          // What is asked for when it is needed is not loaded beforehand.
          if (!keyword.endsWith('(')) imports.add(imported);
          return `${keyword}'${addModule(imported)}'`;
        },
      );
      url = add(specifier.slice(2, -3), 'js', content, 'text/javascript; charset=utf-8');
    }
    moduleUrls.set(specifier, url);
    return url;
  };

  /** Everything that a module needs, at whatever depth, without itself. */
  const importsOf = (specifier: string, found = new Set<string>()): Set<string> => {
    for (const imported of importsByModule.get(specifier) ?? []) {
      if (found.has(imported)) continue;
      found.add(imported);
      importsOf(imported, found);
    }
    return found;
  };

  /** Adds a page's script with all that it imports; gives what the page says of them. */
  const addScript = (specifier: string): { script: string; preloads: string } => {
    const script = addModule(specifier);
    const preloads = [...importsOf(specifier)]
      .map(imported => `<link rel="modulepreload" href="${moduleUrls.get(imported)!}">`)
      .join('\n');
    return { script, preloads };
  };

  const shared = read('player.css') + read('menu.css');
  const styles = add('player', 'css', shared, 'text/css; charset=utf-8');
  const vodStyles = add('vod', 'css', shared + read('vod.css'), 'text/css; charset=utf-8');
  const icon = add('icon', 'svg', read('icon.svg'), 'image/svg+xml');
  const links = { ...addScript('./main.ts'), styles, icon };
  const vodLinks = { ...addScript('./vod-main.ts'), styles: vodStyles, icon };
  const card = (texts: { title: string; heading: string; text: string }) =>
    fillTemplate(fillPage('card.html', links), texts);
  return {
    byName,
    page: fillPage('page.html', links),
    vodPage: fillPage('vod.html', vodLinks),
    notFound: renderText(
      card({
        title: 'No stream here',
        heading: 'There is no stream here',
        text: 'The address may be mistyped, or the stream was removed or is private.',
      }),
    ),
    vodNotFound: renderText(
      card({
        title: 'No video here',
        heading: 'There is no video here',
        text: 'The address may be mistyped, or the video was removed or is private.',
      }),
    ),
    home: renderText(
      card({
        title: 'Millrace',
        heading: 'Millrace is running',
        text: 'Make a video or a live stream as the <a href="/docs">documentation</a> tells, and open the player page that the answer names.',
      }),
    ),
    placeholder: {
      body: readFileSync(new URL('placeholder.jpg', folder)),
      contentType: 'image/jpeg',
      etag: '"placeholder"',
    },
  };
}

/** A page with the parts that all pages share, and then these values. */
function fillPage(name: string, values: Readonly<Record<string, string>>): string {
  const parts = { head: read('head.html').trimEnd(), icons: read('icons.html').trimEnd() };
  return fillTemplate(fillTemplate(read(name), parts), values);
}

/** Puts values in place of their `{{name}}`, in one pass: a value that looks like a placeholder stays as it is. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

function read(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8');
}

function renderText(content: string): RenderedText {
  const plain = Buffer.from(content);
  const hash = createHash('sha256').update(plain).digest('hex').slice(0, 12);
  const gzip = gzipSync(plain, { level: constants.Z_BEST_COMPRESSION });
  return { plain, gzip, etag: `"${hash}"` };
}

function withoutSourceMap(script: string): string {
  return script.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}

/** Comments, and what is left of types, in lines of their own: a third of what would be sent. */
function withoutComments(script: string): string {
  return script.replace(/^[ \t]*(?:\/\*\*[\s\S]*?\*\/|\/\/.*)?[ \t]*\n/gm, '');
}

/** Node marks the function as experimental and says so on the terminal at its first use, where it helps nobody. */
function stripTypes(source: string): string {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}
