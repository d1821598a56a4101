import { gzipSync } from 'node:zlib';
import { fillTemplate } from '../../http/pages/browser-text.ts';
import { languageFor, pageTextsFor } from '../../http/pages/page-texts.ts';
import { acceptsGzip } from '../../http/responses/content-negotiation.ts';
import { escapeHtml } from '../../shared/escape-html.ts';
import type { PlaybackPolicy } from '../../shared/playback-policy.ts';
import type { CompressedText } from '../../shared/text/rendered-text.ts';
import type { PlaybackAdmission } from '../playback-gate.ts';
import { cacheControlFor } from '../responses/cache-control.ts';
import type { Exchange } from '../responses/exchange.ts';
import type { ResponseSender } from '../responses/response-sender.ts';
import { findRefusal } from '../viewer-refusals.ts';
import type { TranslatedPage } from './player-files.ts';

/** Allows only this server. Media Source needs `blob:`, and hls.js makes tracks for captions of `data:`. Any site may embed the page. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "media-src 'self' blob: data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  'frame-ancestors *',
  "require-trusted-types-for 'script'",
].join('; ');

/** Policy of a cluster, where the server that packages a broadcast may change while the page is open. */
const clusterSecurityPolicy = contentSecurityPolicy
  .replace("img-src 'self'", "img-src 'self' http: https:")
  .replace("media-src 'self'", "media-src 'self' http: https:")
  .replace("connect-src 'self'", "connect-src 'self' http: https:");

/** Requests for media name the page as their site. */
export const pageHeaders: readonly string[] = [
  ...['Content-Security-Policy', contentSecurityPolicy],
  ...['Referrer-Policy', 'same-origin'],
];

/** @param templates of a page with the `text` */
export function sendRefusedPage(
  sender: ResponseSender,
  exchange: Exchange,
  templates: TranslatedPage<string>,
  reason: string,
): void {
  const { language, t } = pageTextsFor(acceptedLanguages(exchange));
  const refusal = findRefusal(reason);
  const text = refusal === undefined ? reason : t(`pages.refused.${refusal}`);
  const body = Buffer.from(fillTemplate(templates.get(language)!, { text: escapeHtml(text) }));
  send(sender, exchange, 403, body, [...pageHeaders, 'Cache-Control', 'no-store']);
}

/** Sends a page in the language of the reader. */
export function sendMissingPage(
  sender: ResponseSender,
  exchange: Exchange,
  pages: TranslatedPage<CompressedText>,
): void {
  const { plain, gzip } = pages.get(languageFor(acceptedLanguages(exchange)).language)!;
  const isGzip = isGzipAccepted(exchange);
  send(sender, exchange, 404, isGzip ? gzip : plain, [
    ...pageHeaders,
    ...['Cache-Control', 'no-cache'],
    ...['Vary', 'Accept-Encoding, Accept-Language'],
    ...(isGzip ? ['Content-Encoding', 'gzip'] : []),
  ]);
}

export function sendStaticPage(
  sender: ResponseSender,
  exchange: Exchange,
  { plain, gzip }: CompressedText,
): void {
  send(sender, exchange, 200, isGzipAccepted(exchange) ? gzip : plain, headersFor(exchange, openToAll));
}

/** Allows images, styles and scripts of this server, and the search. */
const channelSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'self'",
  "require-trusted-types-for 'script'",
].join('; ');

/** Sends a page in the language of the reader. It may lose an entry at any time, so that no cache keeps it. */
export function sendChannelPage(
  sender: ResponseSender,
  exchange: Exchange,
  html: string,
  hasOtherServers: boolean,
): void {
  const isGzip = isGzipAccepted(exchange);
  const policy = hasOtherServers
    ? channelSecurityPolicy.replace("img-src 'self'", "img-src 'self' http: https:")
    : channelSecurityPolicy;
  send(sender, exchange, 200, isGzip ? gzipSync(html, { level: 1 }) : Buffer.from(html), [
    ...['Content-Security-Policy', policy],
    ...['Referrer-Policy', 'same-origin'],
    ...['Cache-Control', 'no-cache'],
    ...['Vary', 'Accept, Accept-Encoding, Accept-Language'],
    ...(isGzip ? ['Content-Encoding', 'gzip'] : []),
  ]);
}

/** A page for a private token may be cached by its viewer's browser only. */
export function sendRenderedPage(
  sender: ResponseSender,
  exchange: Exchange,
  html: string,
  page: PlaybackAdmission & {
    /** Media may come from any of them. */
    readonly hasOtherServers: boolean;
  },
): void {
  const body = isGzipAccepted(exchange) ? gzipSync(html, { level: 1 }) : Buffer.from(html);
  const policy = page.hasOtherServers ? clusterSecurityPolicy : contentSecurityPolicy;
  const own = headersFor(exchange, page, 'Accept-Encoding, Sec-Fetch-Dest').map(value =>
    value === contentSecurityPolicy ? [policy, ...page.policies.flatMap(embeddingPolicy)].join(', ') : value,
  );
  send(sender, exchange, 200, body, [...own, ...page.headers]);
}

function send(
  sender: ResponseSender,
  exchange: Exchange,
  status: 200 | 403 | 404,
  body: Buffer,
  headers: string[],
): void {
  sender.sendDocument(exchange, status, body, 'text/html; charset=utf-8', headers);
}

/** Lists the policies that name the sites which may embed the page. Browsers enforce every policy of the list. */
function embeddingPolicy({ allowedDomains }: PlaybackPolicy): string[] {
  if (allowedDomains.length === 0) return [];
  const sites = allowedDomains.map(domain => `http://${domain}:*`);
  return [`frame-ancestors 'self' ${sites.join(' ')}`];
}

function headersFor(exchange: Exchange, admission: PlaybackAdmission, vary = 'Accept-Encoding'): string[] {
  return [
    ...pageHeaders,
    ...['Cache-Control', cacheControlFor(admission, 'no-cache')],
    ...['Vary', vary],
    ...(isGzipAccepted(exchange) ? ['Content-Encoding', 'gzip'] : []),
  ];
}

const openToAll: PlaybackAdmission = { access: undefined, headers: [], policies: [], isDecidedByHook: false };

function acceptedLanguages({ request }: Exchange): string | undefined {
  return request.headers['accept-language'] as string | undefined;
}

function isGzipAccepted({ request }: Exchange): boolean {
  return acceptsGzip(request.headers['accept-encoding'] as string | undefined);
}
