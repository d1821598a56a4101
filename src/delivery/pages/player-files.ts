import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { BrowserBundles } from '../../http/pages/browser-bundles.ts';
import { type BrowserFile, browserText, fillTemplate } from '../../http/pages/browser-text.ts';
import type { CompressedText } from '../../shared/text/rendered-text.ts';
import type { Thumbnail } from '../live/thumbnails.ts';
import { noIndexMeta } from './player-page.ts';

const folder = new URL('../../web/player/', import.meta.url);

export interface PlayerFiles {
  readonly byName: ReadonlyMap<string, BrowserFile>;
  readonly page: string;
  readonly vodPage: string;
  /** The page of a player without a video, which previews themes. */
  readonly sample: CompressedText;
  readonly notFound: CompressedText;
  readonly vodNotFound: CompressedText;
  /** Template to fill in the `text`, escaped. */
  readonly refused: string;
}

export async function loadPlayerFiles(bundles: BrowserBundles): Promise<PlayerFiles> {
  const { files, urlOf, preloadsOf } = await bundles.load('player');
  const linksOf = (script: string, styles: string) => ({
    script: urlOf(script),
    preloads: preloadsOf(script),
    styles: urlOf(styles),
    icon: urlOf('icon'),
  });
  const links = linksOf('live', 'player');
  const card = async (texts: { title: string; text: string }) =>
    browserText(fillTemplate(await fillPage('card.html', links), texts));
  return {
    byName: files,
    page: await fillPage('page.html', links, 'live'),
    vodPage: await fillPage('page.html', linksOf('vod', 'vod-page'), 'vod'),
    sample: await browserText(
      fillTemplate(await fillPage('page.html', linksOf('sample', 'vod-page'), 'vod'), {
        title: 'Title of the video',
        videoId: '',
        video: '',
        poster: urlOf('sample-poster'),
        meta: noIndexMeta,
      }),
    ),
    notFound: await card({
      title: 'Stream not found',
      text: 'The link may be mistyped, or the stream was removed or is private.',
    }),
    vodNotFound: await card({
      title: 'Video not found',
      text: 'The link may be mistyped, or the video was removed or is private.',
    }),
    refused: fillTemplate(await fillPage('card.html', links), { title: 'This can’t be played here' }),
  };
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

async function fillPage(
  name: string,
  values: Readonly<Record<string, string>>,
  kind?: 'live' | 'vod',
): Promise<string> {
  const parts = { head: (await read('head.html')).trimEnd(), icons: (await read('icons.html')).trimEnd() };
  return fillTemplate(fillTemplate(sectionsOf(await read(name), kind), parts), values);
}

/** Keeps what stands between `{{#kind}}` and `{{/kind}}`, and leaves out the sections of other kinds. */
function sectionsOf(template: string, kind: string | undefined): string {
  return template.replace(/\{\{#(\w+)\}\}\n?([\s\S]*?)\{\{\/\1\}\}/g, (_, other: string, section: string) =>
    other === kind ? section : '',
  );
}

function read(name: string): Promise<string> {
  return readFile(new URL(name, folder), 'utf8');
}
