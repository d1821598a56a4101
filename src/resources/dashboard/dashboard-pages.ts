import type { ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';
import type { BrowserFile } from '../../http/browser-files.ts';
import type { HttpRequest, HttpResponse } from '../../http/listener/http-listener.ts';
import {
  answerNonGetMethods,
  immutableCacheControl,
  sendError,
  sendText,
} from '../../http/responses/page-responses.ts';
import { AppError } from '../../shared/errors.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import type { DashboardFiles } from './dashboard-files.ts';

/** What the dashboard's pages are made with. */
export interface DashboardPagesOptions {
  /** Base of the `type` of errors, without a slash at its end; asked when needed. */
  readonly docsBase: () => string;
  readonly log: Logger;
}

/**
 * What the dashboard may do: nothing comes from elsewhere, and only this server is talked to. Frames are the player's pages, media
 * sources of its preview are made in the browser, and pictures that are about to be uploaded are shown from memory.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "frame-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // No text becomes HTML or code: that page has no need of it.
  "require-trusted-types-for 'script'",
].join('; ');

const pageHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
};

const root = '/dashboard';
const assetPrefix = `${root}/assets/`;

/**
 * `/dashboard`: the dashboard as one page and the files that it names, made when it is first opened. Answers before the API does.
 */
export class DashboardPages implements Component {
  readonly name = 'dashboard';
  readonly #options: DashboardPagesOptions;
  readonly #abort = new AbortController();
  #files: Promise<DashboardFiles> | undefined;

  constructor(options: DashboardPagesOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#abort.abort();
  }

  /**
   * Answers a request if it is for the dashboard, or sends people who open the server's root there.
   *
   * @returns false when it is neither; then nothing has been done.
   */
  handle(request: HttpRequest, reply: HttpResponse): boolean {
    // That of HTTP/2 takes the same calls.
    const response = reply as ServerResponse;
    const [path = ''] = (request.url ?? '').split('?');
    const isRoot = path === '/' && (request.headers.accept ?? '').includes('text/html');
    if (!isRoot && !this.owns(path)) return false;
    if (answerNonGetMethods(request, response, this.#options.docsBase)) return true;
    if (isRoot) {
      response.writeHead(302, { Location: root, Vary: 'Accept', 'Cache-Control': 'no-cache' }).end();
    } else {
      this.#find(path).then(
        file => this.#send(request, response, file),
        (error: unknown) => {
          this.#options.log.error('dashboard-not-shown', { path, error });
          this.#refuse(response, error);
        },
      );
    }
    return true;
  }

  /** Returns whether a path is one of the dashboard's. */
  owns(path: string): boolean {
    return path === root || path.startsWith(`${root}/`);
  }

  /** Its files, made when they are first needed. */
  #load(): Promise<DashboardFiles> {
    if (this.#files === undefined) {
      this.#files = buildFiles(this.#abort.signal);
      this.#files.catch(() => {
        this.#files = undefined;
      });
    }
    return this.#files;
  }

  async #find(path: string): Promise<{ file: BrowserFile | undefined; isPage: boolean }> {
    const { page, byName } = await this.#load();
    const isPage = !path.startsWith(assetPrefix);
    return { file: isPage ? page : byName.get(path.slice(assetPrefix.length)), isPage };
  }

  #send(
    request: HttpRequest,
    response: ServerResponse,
    { file, isPage }: { file: BrowserFile | undefined; isPage: boolean },
  ): void {
    if (file === undefined) {
      this.#refuse(response, new AppError('resource-not-found', undefined, { details: { name: 'name' } }));
      return;
    }
    sendText(
      request,
      response,
      { ...file.text, contentType: file.contentType },
      {
        'Cache-Control': isPage ? 'no-cache' : immutableCacheControl,
        ...(isPage ? pageHeaders : {}),
      },
    );
  }

  #refuse(response: ServerResponse, error: unknown): void {
    sendError(response, error, this.#options.docsBase());
  }
}

/** Has the files made in a thread of its own, which ends with `signal`. */
function buildFiles(signal: AbortSignal): Promise<DashboardFiles> {
  const { promise, resolve, reject } = Promise.withResolvers<DashboardFiles>();
  const worker = new Worker(new URL('dashboard-worker.ts', import.meta.url));
  const end = () => void worker.terminate();
  signal.addEventListener('abort', end);
  worker.once('message', (made: DashboardFiles) => resolve(withBuffers(made)));
  worker.once('error', reject);
  worker.once('exit', code => {
    signal.removeEventListener('abort', end);
    reject(new Error(`the thread that makes the dashboard ended with ${code}`));
  });
  return promise;
}

/** Buffers arrive from another thread as plain arrays of bytes. */
function withBuffers({ page, byName }: DashboardFiles): DashboardFiles {
  const restored = ({ text, contentType }: BrowserFile): BrowserFile => ({
    text: { plain: Buffer.from(text.plain), gzip: Buffer.from(text.gzip), etag: text.etag },
    contentType,
  });
  return {
    page: restored(page),
    byName: new Map([...byName].map(([name, file]) => [name, restored(file)])),
  };
}
