import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { withoutComments } from './without-comments.ts';

const compress = promisify(gzip);

/** A text in the forms in which it is sent. `etag` is in quotes. */
export interface BrowserText {
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly etag: string;
}

/** A file that pages name. Its URL holds a hash of its content, so it can be kept for ever. */
export interface BrowserFile {
  readonly text: BrowserText;
  readonly contentType: string;
}

/** Compresses a text, beside the event loop, and gives it an entity tag. */
export async function browserText(content: string | Buffer): Promise<BrowserText> {
  const plain = Buffer.from(content);
  return {
    plain,
    gzip: await compress(plain, { level: constants.Z_BEST_COMPRESSION }),
    etag: `"${hashOf(plain)}"`,
  };
}

function hashOf(plain: Buffer): string {
  return createHash('sha256').update(plain).digest('hex').slice(0, 12);
}

/** Files by the name in `{prefix}{name}`. */
export class BrowserFiles {
  readonly #added = new Map<string, { readonly content: Buffer; readonly contentType: string }>();
  readonly #prefix: string;

  /** @param prefix what their URLs begin with, such as `/assets/` */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Adds a file under a name made of its content; its URL. */
  add(baseName: string, extension: string, content: string, contentType: string): string {
    const plain = Buffer.from(content);
    const name = `${baseName}-${hashOf(plain)}.${extension}`;
    this.#added.set(name, { content: plain, contentType });
    return this.#prefix + name;
  }

  /** All that were added, compressed one after the other: others need the threads that do it, too. */
  async compressed(): Promise<Map<string, BrowserFile>> {
    const byName = new Map<string, BrowserFile>();
    for (const [name, { content, contentType }] of this.#added) {
      byName.set(name, { text: await browserText(content), contentType });
    }
    return byName;
  }
}

/** What modules are made with. */
export interface BrowserModulesOptions {
  readonly files: BrowserFiles;
  /** The file of each package that modules may name, by the specifier by which they do. */
  readonly packages: Readonly<Record<string, URL>>;
  /** Makes JavaScript of a file's TypeScript. */
  readonly compile: (source: string, path: string) => string;
}

const scriptType = 'text/javascript; charset=utf-8';
/** Where a module names another: a relative path with its ending, or a package. */
const importPattern = /(\bfrom\s*|\bimport\s*\(?\s*)(["'])((?:\.{1,2}\/|@?[a-z])[\w@./-]*)\2/g;

/**
 * ECMAScript modules as browsers load them: TypeScript becomes JavaScript, and every module names those that it imports by their
 * URLs. There is no bundle: each is a file of its own.
 */
export class BrowserModules {
  readonly #options: BrowserModulesOptions;
  readonly #urls = new Map<string, string>();
  /** What is loaded before a module can run. */
  readonly #imports = new Map<string, ReadonlySet<string>>();

  constructor(options: BrowserModulesOptions) {
    this.#options = options;
  }

  /** Adds a page's script with all that it imports; its URL, and the elements by which a page has all of it loaded at once. */
  async addScript(file: URL): Promise<{ script: string; preloads: string }> {
    const script = await this.#add(file);
    const preloads = [...this.#importsOf(file.href)]
      .map(imported => `<link rel="modulepreload" href="${this.#urls.get(imported)!}">`)
      .join('\n');
    return { script, preloads };
  }

  /** What a module imports is added before it, since its own hash depends on their names. */
  async #add(file: URL): Promise<string> {
    const known = this.#urls.get(file.href);
    if (known !== undefined) return known;
    const { files, packages, compile } = this.#options;
    const source = await readFile(file, 'utf8');
    const isOurs = /\.tsx?$/.test(file.pathname);
    const imports = new Set<string>();
    this.#imports.set(file.href, imports);
    const script = isOurs ? withoutComments(compile(source, file.pathname)) : withoutSourceMap(source);
    const urls = new Map<string, string>();
    for (const [, keyword = '', , specifier = ''] of script.matchAll(importPattern)) {
      const target = specifier.startsWith('.') ? new URL(specifier, file) : packages[specifier];
      // The latter are of comments with types in them.
      if (target === undefined || target.pathname.endsWith('.d.ts')) continue;
      // What is asked for when it is needed is not loaded beforehand.
      if (!keyword.includes('(')) imports.add(target.href);
      urls.set(specifier, await this.#add(target));
    }
    const content = script.replace(
      importPattern,
      (whole, keyword: string, quote: string, specifier: string) => {
        const url = urls.get(specifier);
        return url === undefined ? whole : keyword + quote + url + quote;
      },
    );
    const [baseName = ''] = file.pathname.slice(file.pathname.lastIndexOf('/') + 1).split('.');
    const url = files.add(baseName, 'js', content, scriptType);
    this.#urls.set(file.href, url);
    return url;
  }

  /** Everything that a module needs, at whatever depth, without itself. */
  #importsOf(href: string, found = new Set<string>()): Set<string> {
    for (const imported of this.#imports.get(href) ?? []) {
      if (found.has(imported)) continue;
      found.add(imported);
      this.#importsOf(imported, found);
    }
    return found;
  }
}

/** Puts values in place of their `{{name}}`, in one pass: a value that looks like a placeholder stays as it is. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}

/** Node marks the function as experimental and says so on the terminal at its first use, where it helps nobody. */
export function stripTypes(source: string): string {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(source);
  } finally {
    process.emitWarning = emitWarning;
  }
}

function withoutSourceMap(script: string): string {
  return script.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}
