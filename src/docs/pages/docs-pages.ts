import type { ServerResponse } from 'node:http';
import type { HttpRequest, HttpResponse } from '../../http/listener/http-listener.ts';
import type { JsonObject } from '../../http/openapi/openapi-schemas.ts';
import type { BrowserBundles } from '../../http/pages/browser-bundles.ts';
import { type BrowserFile, browserText, etagOf, fillTemplate } from '../../http/pages/browser-text.ts';
import {
  answerNonGetMethods,
  immutableCacheControl,
  sendError,
  sendText,
} from '../../http/responses/page-responses.ts';
import { AppError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import type { DocsPage, DocsSection } from '../site/docs-site.ts';
import { escapeHtml } from '../site/html.ts';
import { SitePages } from '../site/site-pages.ts';

interface DocsPagesOptions {
  readonly bundles: BrowserBundles;
  readonly version: string;
  readonly publicUrl: () => string;
  /** URL such as `rtmp://localhost/s`. */
  readonly ingestUrl: () => string;
  readonly document: () => JsonObject;
  readonly docsBase: () => string;
  readonly log: Logger;
}

interface LoadedDocs {
  /** Names contain a hash: their files never change. */
  readonly assets: ReadonlyMap<string, BrowserFile>;
  readonly pages: SitePages;
}

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // The page never turns text into HTML or code.
  "require-trusted-types-for 'script'",
].join('; ');

const pageType = 'text/html; charset=utf-8';
const assetPrefix = '/docs/assets/';
const errorPrefix = '/docs/errors/';
const llmsPath = '/llms.txt';
/** The server of the examples in the guides. */
const exampleServer = 'http://localhost:8080';
const exampleIngest = 'rtmp://localhost/s';

export class DocsPages {
  readonly #options: DocsPagesOptions;
  readonly #files = new Map<string, Promise<BrowserFile | undefined>>();
  #docs: Promise<LoadedDocs> | undefined;

  constructor(options: DocsPagesOptions) {
    this.#options = options;
  }

  /** @returns false, with nothing done, for any other request */
  handle(request: HttpRequest, reply: HttpResponse): boolean {
    // HTTP/2 responses have the same methods.
    const response = reply as ServerResponse;
    const [path = ''] = (request.url ?? '').split('?');
    const isForBrowser = (request.headers.accept ?? '').includes('text/html');
    // Clients other than browsers get errors as JSON from the API.
    if (!this.owns(path) && !(path.startsWith(errorPrefix) && isForBrowser)) return false;
    if (answerNonGetMethods(request, response, this.#options.docsBase)) return true;
    this.#answer(request, response, path, isForBrowser).catch((error: unknown) => {
      this.#options.log.error('documentation-not-shown', { path, error });
      this.#refuse(response, error);
    });
    return true;
  }

  owns(path: string): boolean {
    if (path === llmsPath || path === '/docs') return true;
    return path.startsWith('/docs/') && (!path.startsWith(errorPrefix) || path === errorPrefix);
  }

  async #answer(
    request: HttpRequest,
    response: ServerResponse,
    path: string,
    isForBrowser: boolean,
  ): Promise<void> {
    const { assets, pages } = await this.#load();
    const isAsset = path.startsWith(assetPrefix);
    const file = isAsset
      ? (assets.get(path.slice(assetPrefix.length)) ?? (await this.#image(path)))
      : await this.#find(pages, path);
    if (file !== undefined) {
      const headers = file.contentType === pageType ? pageHeaders : {};
      const caching = isAsset ? immutableCacheControl : 'no-cache';
      sendText(request, response, file, { 'Cache-Control': caching, ...headers });
    } else if (isForBrowser && !isAsset) {
      const page = Buffer.from(this.#fill(pages.notFound()));
      const length = String(page.length);
      response.writeHead(404, { ...pageHeaders, 'Content-Type': pageType, 'Content-Length': length });
      response.end(request.method === 'HEAD' ? undefined : page);
    } else {
      this.#refuse(response, new AppError('resource-not-found', undefined, { details: { name: 'name' } }));
    }
  }

  /** Images stay on the disk. */
  async #image(
    path: string,
  ): Promise<{ text: { plain: Buffer; etag: string }; contentType: string } | undefined> {
    const [, name] = /^\/docs\/assets\/([\w-]+\.png)$/.exec(path) ?? [];
    const plain = name === undefined ? undefined : await this.#options.bundles.read(`guides/${name}`);
    return plain && { text: { plain, etag: etagOf(plain) }, contentType: 'image/png' };
  }

  /** Keeps pages that exist. */
  #find(pages: SitePages, path: string): Promise<BrowserFile | undefined> {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const file = this.#write(pages, path);
    this.#files.set(path, file);
    file.then(
      found => found === undefined && this.#files.delete(path),
      () => this.#files.delete(path),
    );
    return file;
  }

  async #write(pages: SitePages, path: string): Promise<BrowserFile | undefined> {
    const name = path.replace(/^\/docs\/?/, '').replace(/\/$/, '');
    const text = path === llmsPath ? pages.llms() : await pages.find(name);
    if (text === undefined) return undefined;
    const ending = /\.\w+$/.exec(path === llmsPath ? path : name)?.[0] ?? '';
    return {
      text: await browserText(this.#fill(text, ending === '')),
      contentType: typeOf[ending] ?? pageType,
    };
  }

  /** Puts the addresses of this server into a text. */
  #fill(text: string, isHtml = true): string {
    const { publicUrl, ingestUrl, bundles } = this.#options;
    const value = (address: string) => (isHtml ? escapeHtml(address) : address);
    // Texts are read elsewhere, too: they have whole addresses.
    const base = isHtml ? bundles.basePath : publicUrl();
    return fillTemplate(text, { base, server: value(publicUrl()) })
      .replaceAll(exampleServer, () => value(publicUrl()))
      .replaceAll(exampleIngest, () => value(ingestUrl()));
  }

  #load(): Promise<LoadedDocs> {
    this.#docs ??= this.#read();
    this.#docs.catch(() => {
      this.#docs = undefined;
    });
    return this.#docs;
  }

  async #read(): Promise<LoadedDocs> {
    const { bundles, version, document } = this.#options;
    const { files, urlOf } = await bundles.load('docs');
    const links = {
      icon: urlOf('icon'),
      styles: urlOf('docs-page'),
      font: urlOf('font'),
      theme: urlOf('theme'),
      script: urlOf('docs'),
      search: urlOf('search'),
    };
    const pages = new SitePages({
      version,
      links,
      sections: await this.#readJson<readonly DocsSection[]>('sections'),
      guide: name => this.#readJson<DocsPage>(name),
      document,
    });
    return { assets: files, pages };
  }

  async #readJson<Value>(name: string): Promise<Value> {
    const content = await this.#options.bundles.read(`guides/${name}.json`);
    if (content === undefined) throw new Error(`the build has no ${name}.json of the documentation`);
    return JSON.parse(content.toString()) as Value;
  }

  #refuse(response: ServerResponse, error: unknown): void {
    sendError(response, error, this.#options.docsBase());
  }
}

const pageHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  Vary: 'Accept, Accept-Encoding',
};

const typeOf: Readonly<Record<string, string>> = {
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json',
};
