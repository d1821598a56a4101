import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { BrowserBundles } from '../../http/pages/browser-bundles.ts';
import { type BrowserFile, browserText, fillTemplate } from '../../http/pages/browser-text.ts';
import { allPageTexts, type PageTextKey, type PageTexts } from '../../http/pages/page-texts.ts';
import { escapeHtml } from '../../shared/escape-html.ts';
import type { CompressedText } from '../../shared/text/rendered-text.ts';
import type { Language } from '../../web/i18n/languages.ts';
import type { Thumbnail } from '../live/thumbnails.ts';
import { noIndexMeta } from './player-page.ts';

const folder = new URL('../../web/player/', import.meta.url);
const watchTemplate = new URL('../../web/watch/page.html', import.meta.url);
const channelTemplate = new URL('../../web/channel/page.html', import.meta.url);

const sampleTitle = 'Title of the video';

/** A page in each language. */
export type TranslatedPage<Content> = ReadonlyMap<Language, Content>;

export interface PlayerFiles {
  readonly byName: ReadonlyMap<string, BrowserFile>;
  readonly page: string;
  readonly vodPage: string;
  /** Script of the player element, for pages on any site. */
  readonly element: CompressedText;
  /** The page around the player of a video or live stream. */
  readonly watchPage: string;
  /** The public page of a project. */
  readonly channelPage: string;
  /** Address of its script. */
  readonly channelScript: string;
  /** The page of a player without a video, which previews themes. */
  readonly sample: CompressedText;
  readonly notFound: TranslatedPage<CompressedText>;
  readonly vodNotFound: TranslatedPage<CompressedText>;
  readonly channelNotFound: TranslatedPage<CompressedText>;
  /** For links with a token, the same where there is nothing. */
  readonly tokenRefused: TranslatedPage<CompressedText>;
  /** Templates to fill in the `text`, escaped. */
  readonly refused: TranslatedPage<string>;
}

export async function loadPlayerFiles(bundles: BrowserBundles): Promise<PlayerFiles> {
  const { files, urlOf, importsOf } = await bundles.load('player');
  /** Links to what the page of a script begins with, and to the controls, which the first frame does not need. */
  const preloads = (script: string, ...engines: string[]) => {
    const begin = new Set(importsOf(script));
    for (const engine of engines) for (const url of [...importsOf(engine), urlOf(engine)]) begin.add(url);
    const later = [...importsOf('controls'), urlOf('controls')].filter(url => !begin.has(url));
    return [...begin, ...later].map(url => modulePreload(url, later.includes(url))).join('\n');
  };
  /** A page with the player, whose engine loads beside it. */
  const page = async (script: string, ...engines: string[]) =>
    fillTemplate(fillTemplate(await read('page.html'), { head: (await read('head.html')).trimEnd() }), {
      script: urlOf(script),
      preloads: preloads(script, ...engines),
      styles: urlOf('page-styles'),
      icon: urlOf('icon'),
    });
  const template = await read('card.html');
  const styles = urlOf('card-page');
  const card = (texts: PageTexts, title: PageTextKey) =>
    fillCard(template, texts, { title, icon: urlOf('icon'), styles });
  const missing = (title: PageTextKey, text: PageTextKey) =>
    inEachLanguage(texts => browserText(fillTemplate(card(texts, title), { text: texts.t(text) })));
  return {
    byName: files,
    element: await browserText(elementScript(urlOf, importsOf)),
    page: await page('page', 'live-engine'),
    vodPage: await page('page', 'vod-engine'),
    watchPage: fillTemplate(await readFile(watchTemplate, 'utf8'), {
      script: urlOf('watch'),
      preloads: preloads('watch'),
      styles: urlOf('watch-page'),
      icon: urlOf('icon'),
      start: urlOf('watch-start'),
    }),
    channelPage: fillTemplate(await readFile(channelTemplate, 'utf8'), {
      styles: urlOf('channel-page'),
      icon: urlOf('icon'),
    }),
    channelScript: urlOf('channel'),
    sample: await browserText(
      fillTemplate(await page('sample'), {
        title: sampleTitle,
        playlists: '',
        state: escapeHtml(JSON.stringify({ title: sampleTitle, poster: urlOf('sample-poster') })),
        meta: noIndexMeta,
      }),
    ),
    notFound: await missing('pages.streamMissingTitle', 'pages.streamMissingText'),
    vodNotFound: await missing('pages.videoMissingTitle', 'pages.videoMissingText'),
    tokenRefused: await missing('pages.tokenTitle', 'pages.tokenText'),
    channelNotFound: await missing('pages.notFoundTitle', 'pages.notFoundText'),
    refused: await inEachLanguage(texts => card(texts, 'pages.refusedTitle')),
  };
}

function modulePreload(url: string, isLater: boolean): string {
  return `<link rel="modulepreload"${isLater ? ' fetchpriority="low"' : ''} href="${url}">`;
}

interface CardValues {
  readonly title: PageTextKey;
  readonly icon: string;
  readonly styles: string;
  /** HTML. */
  readonly action?: string;
}

/** Fills in everything but the `text`. */
function fillCard(
  template: string,
  { language, direction, t }: PageTexts,
  { title, icon, styles, action = '' }: CardValues,
): string {
  const translated = template.replace('lang="en"', `lang="${language}" dir="${direction}"`);
  return fillTemplate(translated, { title: t(title), icon, styles, action });
}

/** Returns the page for addresses that nothing is at. */
export async function loadUnknownPage(bundles: BrowserBundles): Promise<TranslatedPage<Buffer>> {
  const { urlOf } = await bundles.load('player');
  const template = await read('card.html');
  return inEachLanguage(texts => {
    const card = fillCard(template, texts, {
      title: 'pages.notFoundTitle',
      icon: urlOf('icon'),
      styles: urlOf('card-page'),
      action: `<a href="${bundles.basePath}/">${texts.t('pages.toStart')}</a>`,
    });
    return Buffer.from(fillTemplate(card, { text: texts.t('pages.notFoundText') }));
  });
}

async function inEachLanguage<Content>(
  write: (texts: PageTexts) => Promise<Content> | Content,
): Promise<TranslatedPage<Content>> {
  const pages = await Promise.all(
    allPageTexts.map(async texts => [texts.language, await write(texts)] as const),
  );
  return new Map(pages);
}

/** Imports the element and all that it imports, which load beside each other, at addresses relative to that of this script. */
function elementScript(urlOf: (entry: string) => string, importsOf: (entry: string) => string[]): string {
  const relative = (url: string) => `./${url.slice(url.lastIndexOf('/assets/') + 1)}`;
  const imports = importsOf('element').map(url => `import "${relative(url)}";\n`);
  return `${imports.join('')}export * from "${relative(urlOf('element'))}";\n`;
}

let placeholder: Thumbnail | undefined;

export function placeholderThumbnail(): Thumbnail {
  placeholder ??= {
    body: readFileSync(new URL('placeholder.jpg', folder)),
    contentType: 'image/jpeg',
    etag: '"placeholder"',
  };
  return placeholder;
}

function read(name: string): Promise<string> {
  return readFile(new URL(name, folder), 'utf8');
}
