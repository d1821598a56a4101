import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import type { HttpRequest, HttpResponse } from '../../http/listener/http-listener.ts';
import type { BrowserBundles } from '../../http/pages/browser-bundles.ts';
import { type BrowserFile, browserText, fillTemplate } from '../../http/pages/browser-text.ts';
import {
  answerNonGetMethods,
  immutableCacheControl,
  sendError,
  sendText,
} from '../../http/responses/page-responses.ts';
import { AppError } from '../../shared/errors.ts';
import { operatorCommand } from '../../shared/installation.ts';
import type { Logger } from '../../shared/logger.ts';

const template = new URL('../../web/dashboard/page.html', import.meta.url);

interface DashboardPagesOptions {
  readonly bundles: BrowserBundles;
  readonly docsBase: () => string;
  readonly log: Logger;
}

/** Allows this server only. `blob:` is for the preview and for images before their upload. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "font-src 'self'",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "frame-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // The page never turns text into HTML or code.
  "require-trusted-types-for 'script'",
].join('; ');

const pageHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
};

const root = '/dashboard';
const assetPrefix = `${root}/assets/`;

interface DashboardFiles {
  readonly page: BrowserFile;
  readonly byName: ReadonlyMap<string, BrowserFile>;
}

export class DashboardPages {
  readonly #options: DashboardPagesOptions;
  #files: Promise<DashboardFiles> | undefined;

  constructor(options: DashboardPagesOptions) {
    this.#options = options;
  }

  /** @returns false for requests that are not for the dashboard, left untouched */
  handle(request: HttpRequest, reply: HttpResponse): boolean {
    // The HTTP/2 response takes the same calls.
    const response = reply as ServerResponse;
    const [path = ''] = (request.url ?? '').split('?');
    const isRoot = path === '/' && (request.headers.accept ?? '').includes('text/html');
    if (!isRoot && !this.owns(path)) return false;
    if (answerNonGetMethods(request, response, this.#options.docsBase)) return true;
    if (isRoot) {
      response
        .writeHead(302, {
          Location: this.#options.bundles.basePath + root,
          Vary: 'Accept',
          'Cache-Control': 'no-cache',
        })
        .end();
    } else {
      this.#send(request, response, path).catch((error: unknown) => {
        this.#options.log.error('dashboard-not-shown', { path, error });
        sendError(response, error, this.#options.docsBase());
      });
    }
    return true;
  }

  owns(path: string): boolean {
    return path === root || path.startsWith(`${root}/`);
  }

  async #send(request: HttpRequest, response: ServerResponse, path: string): Promise<void> {
    this.#files ??= loadFiles(this.#options.bundles);
    this.#files.catch(() => {
      this.#files = undefined;
    });
    const { page, byName } = await this.#files;
    const isPage = !path.startsWith(assetPrefix);
    const file = isPage ? page : byName.get(path.slice(assetPrefix.length));
    if (file === undefined) {
      const error = new AppError('resource-not-found', undefined, { details: { name: 'name' } });
      sendError(response, error, this.#options.docsBase());
      return;
    }
    sendText(request, response, file, {
      'Cache-Control': isPage ? 'no-cache' : immutableCacheControl,
      ...(isPage ? pageHeaders : {}),
    });
  }
}

async function loadFiles(bundles: BrowserBundles): Promise<DashboardFiles> {
  const { files, urlOf, preloadsOf } = await bundles.load('dashboard');
  const docs = await bundles.load('docs');
  const page = fillTemplate(await readFile(template, 'utf8'), {
    script: urlOf('main'),
    preloads: preloadsOf('main'),
    theme: urlOf('theme'),
    styles: urlOf('dashboard'),
    font: urlOf('font'),
    icon: urlOf('icon'),
    base: bundles.basePath,
    docsIndex: docs.urlOf('search'),
    accountCommand: operatorCommand('account', 'ARGUMENTS'),
  });
  return { page: { text: await browserText(page), contentType: 'text/html; charset=utf-8' }, byName: files };
}
