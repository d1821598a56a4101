import type { ServerResponse } from 'node:http';
import type { HttpRequest, HttpResponse } from '../../http/listener/http-listener.ts';
import type { BrowserBundles } from '../../http/pages/browser-bundles.ts';
import type { BrowserFile } from '../../http/pages/browser-text.ts';
import {
  answerNonGetMethods,
  immutableCacheControl,
  sendError,
  sendText,
} from '../../http/responses/page-responses.ts';
import type { RateLimits } from '../../http/routing/rate-limiter.ts';
import { AppError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { errorHtml, errorTableHtml, escapeHtml, fillPage, isErrorCode } from './docs-content.ts';
import { type DocsFiles, docsFile, loadDocsFiles } from './docs-files.ts';

interface DocsPagesOptions {
  readonly bundles: BrowserBundles;
  readonly version: string;
  readonly publicUrl: () => string;
  /** URL such as `rtmp://localhost/s`. */
  readonly ingestUrl: () => string;
  readonly rateLimits: RateLimits;
  readonly docsBase: () => string;
  readonly log: Logger;
}

/** The API viewer writes inline styles and has icons as data URLs. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pageType = 'text/html; charset=utf-8';
const assetPrefix = '/docs/assets/';
const errorPrefix = '/docs/errors/';

export class DocsPages {
  readonly #options: DocsPagesOptions;
  readonly #pages = new Map<string, Promise<BrowserFile>>();
  #files: Promise<DocsFiles> | undefined;

  constructor(options: DocsPagesOptions) {
    this.#options = options;
  }

  /** @returns false, with nothing done, for any other request */
  handle(request: HttpRequest, reply: HttpResponse): boolean {
    // HTTP/2 responses have the same methods.
    const response = reply as ServerResponse;
    const [path = ''] = (request.url ?? '').split('?');
    if (!path.startsWith('/docs') || !this.#isDocsRequest(path, request.headers.accept ?? '')) return false;
    if (answerNonGetMethods(request, response, this.#options.docsBase)) return true;
    this.#find(path).then(
      file => this.#send(request, response, path, file),
      (error: unknown) => {
        this.#options.log.error('documentation-not-shown', { path, error });
        this.#refuse(response, error);
      },
    );
    return true;
  }

  /** Tells whether a page answers. Clients other than browsers get errors as JSON from the API. */
  #isDocsRequest(path: string, accept: string): boolean {
    return this.owns(path) || (path.startsWith(errorPrefix) && accept.includes('text/html'));
  }

  owns(path: string): boolean {
    return ['/docs', '/docs/', '/docs/errors'].includes(path) || path.startsWith(assetPrefix);
  }

  async #find(path: string): Promise<BrowserFile | undefined> {
    this.#files ??= loadDocsFiles(this.#options.bundles);
    this.#files.catch(() => {
      this.#files = undefined;
    });
    const files = await this.#files;
    if (path.startsWith(assetPrefix)) return files.byName.get(path.slice(assetPrefix.length));
    if (path === '/docs' || path === '/docs/') return this.#page('guide', () => this.#guide(files));
    if (path === '/docs/errors') {
      return this.#page('errors', () => this.#errorPage(files, 'Errors', errorTableHtml(files.links.base)));
    }
    const code = path.slice(errorPrefix.length);
    if (!isErrorCode(code)) return undefined;
    return this.#page(code, () => this.#errorPage(files, code, errorHtml(code, files.links.base)));
  }

  #page(name: string, write: () => string): Promise<BrowserFile> {
    const known = this.#pages.get(name);
    if (known !== undefined) return known;
    const page = docsFile(write(), pageType);
    this.#pages.set(name, page);
    return page;
  }

  #guide(files: DocsFiles): string {
    const { uploads, writes, reads, sandbox } = this.#options.rateLimits;
    return fillPage(files.page, {
      ...files.links,
      version: escapeHtml(this.#options.version),
      server: escapeHtml(this.#options.publicUrl()),
      rtmp: escapeHtml(this.#options.ingestUrl()),
      uploads: limitText(uploads, 'uploads'),
      writes: limitText(writes, 'other writes'),
      reads: limitText(reads, 'reads'),
      sandboxRates:
        sandbox === undefined
          ? ''
          : `In the sandbox: ${limitText(sandbox.uploads, 'uploads')}, ${limitText(sandbox.writes, 'other writes')} and ${limitText(sandbox.reads, 'reads')}.`,
    });
  }

  #errorPage(files: DocsFiles, title: string, content: string): string {
    const version = escapeHtml(this.#options.version);
    return fillPage(files.error, { ...files.links, version, title: `${title} - Millrace`, content });
  }

  #send(request: HttpRequest, response: ServerResponse, path: string, file: BrowserFile | undefined): void {
    if (file === undefined) {
      this.#refuse(response, new AppError('resource-not-found', undefined, { details: { name: 'name' } }));
      return;
    }
    const isPage = file.contentType === pageType;
    sendText(request, response, file, {
      'Cache-Control': path.startsWith(assetPrefix) ? immutableCacheControl : 'no-cache',
      ...(isPage
        ? {
            'Content-Security-Policy': contentSecurityPolicy,
            'Referrer-Policy': 'no-referrer',
            Vary: 'Accept, Accept-Encoding',
          }
        : {}),
    });
  }

  #refuse(response: ServerResponse, error: unknown): void {
    sendError(response, error, this.#options.docsBase());
  }
}

function limitText(limit: number, what: string): string {
  return limit === 0 ? `any number of ${what}` : `${limit.toLocaleString('en')} ${what}`;
}
