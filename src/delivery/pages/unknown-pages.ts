import type { ServerResponse } from 'node:http';
import { basename } from 'node:path';
import type { HttpRequest, HttpResponse } from '../../http/listener/http-listener.ts';
import type { BrowserBundles } from '../../http/pages/browser-bundles.ts';
import { languageFor } from '../../http/pages/page-texts.ts';
import { negotiateErrorFormat } from '../../http/responses/content-negotiation.ts';
import { answerNonGetMethods, sendError, sendText } from '../../http/responses/page-responses.ts';
import type { Logger } from '../../shared/logger.ts';
import { loadUnknownPage, type TranslatedPage } from './player-files.ts';

interface UnknownPagesOptions {
  readonly bundles: BrowserBundles;
  readonly docsBase: () => string;
  readonly hasRoute: (path: string) => boolean;
  readonly log: Logger;
}

const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const favicon = '/favicon.ico';

/** Shows browsers a page where nothing is; other clients get the errors of the API. */
export class UnknownPages {
  readonly #options: UnknownPagesOptions;
  #page: Promise<TranslatedPage<Buffer>> | undefined;

  constructor(options: UnknownPagesOptions) {
    this.#options = options;
  }

  /** @returns false, with nothing done, for requests of others */
  handle(request: HttpRequest, reply: HttpResponse): boolean {
    // HTTP/2 responses have the same methods.
    const response = reply as ServerResponse;
    const [path = ''] = (request.url ?? '').split('?');
    const isFavicon = path === favicon;
    if (!isFavicon && !this.#isPage(request, path)) return false;
    if (answerNonGetMethods(request, response, this.#options.docsBase)) return true;
    const sent = isFavicon ? this.#sendFavicon(request, response) : this.#sendPage(request, response);
    sent.catch((error: unknown) => {
      this.#options.log.error('page-not-shown', { path, error });
      sendError(response, error, this.#options.docsBase());
    });
    return true;
  }

  #isPage({ method, headers }: HttpRequest, path: string): boolean {
    if (method !== 'GET' && method !== 'HEAD') return false;
    return negotiateErrorFormat(headers.accept) === 'html' && !this.#options.hasRoute(path);
  }

  async #sendPage(request: HttpRequest, response: ServerResponse): Promise<void> {
    this.#page ??= loadUnknownPage(this.#options.bundles);
    this.#page.catch(() => {
      this.#page = undefined;
    });
    const pages = await this.#page;
    const body = pages.get(languageFor(request.headers['accept-language'] as string | undefined).language)!;
    response.writeHead(404, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': body.length,
      'Content-Security-Policy': contentSecurityPolicy,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-cache',
      Vary: 'Accept, Accept-Language',
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  }

  async #sendFavicon(request: HttpRequest, response: ServerResponse): Promise<void> {
    const { files, urlOf } = await this.#options.bundles.load('player');
    sendText(request, response, files.get(basename(urlOf('favicon')))!, {
      'Cache-Control': 'public, max-age=86400',
    });
  }
}
