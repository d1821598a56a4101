import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import {
  type BrowserFile,
  BrowserFiles,
  BrowserModules,
  browserText,
  fillTemplate,
  stripTypes,
} from '../http/browser-files.ts';
import type { RenderedText } from './live/live-source.ts';
import type { Thumbnail } from './live/thumbnails.ts';
import { noIndexMeta } from './pages/player-page.ts';

const folder = new URL('../web/player/', import.meta.url);

/**
 * The builds of hls.js, by the name under which the player's modules import them. The light one knows no audio renditions,
 * which videos and ladders have.
 */
const hlsBuilds = {
  'hls.js': packageFile('hls.js/dist/hls.light.min.mjs'),
  'hls.js/dist/hls.min.mjs': packageFile('hls.js/dist/hls.min.mjs'),
};

/** The player page, the pages beside it, and the files that they name. */
export interface PlayerFiles {
  /** By the name in `/assets/{name}`. */
  readonly byName: ReadonlyMap<string, BrowserFile>;
  /** The page of a live stream, with `{{name}}` where a value goes. */
  readonly page: string;
  /** The page of a video, likewise. */
  readonly vodPage: string;
  /** The page of a player that plays nothing, on which themes are tried; complete. */
  readonly sample: RenderedText;
  /** The page for a stream that does not exist; complete. */
  readonly notFound: RenderedText;
  /** The same for a video. */
  readonly vodNotFound: RenderedText;
}

/**
 * Reads the player's sources, strips the types off its TypeScript, and gives every file a name made of its content. Takes some
 * hundred milliseconds, of which the event loop has less than half, in short turns.
 */
export async function loadPlayerFiles(): Promise<PlayerFiles> {
  const files = new BrowserFiles('/assets/');
  const modules = new BrowserModules({ files, packages: hlsBuilds, compile: stripTypes });

  const shared = (await read('player.css')) + (await read('menu.css'));
  const styles = files.add('player', 'css', shared, 'text/css; charset=utf-8');
  const vodStyles = files.add('vod', 'css', shared + (await read('vod.css')), 'text/css; charset=utf-8');
  const icon = files.add('icon', 'svg', await read('icon.svg'), 'image/svg+xml');
  const links = { ...(await modules.addScript(new URL('main.ts', folder))), styles, icon };
  const vodLinks = { ...(await modules.addScript(new URL('vod-main.ts', folder))), styles: vodStyles, icon };
  const sampleLinks = {
    ...(await modules.addScript(new URL('sample-main.ts', folder))),
    styles: vodStyles,
    icon,
  };
  const samplePicture = files.add('sample', 'svg', await read('placeholder.svg'), 'image/svg+xml');
  const card = async (texts: { title: string; heading: string; text: string }) =>
    browserText(fillTemplate(await fillPage('card.html', links), texts));
  return {
    byName: await files.compressed(),
    page: await fillPage('page.html', links),
    vodPage: await fillPage('vod.html', vodLinks),
    sample: await browserText(
      fillTemplate(await fillPage('vod.html', sampleLinks), {
        ...{ title: 'Title of the video', videoId: '', video: '', poster: samplePicture },
        meta: noIndexMeta,
      }),
    ),
    notFound: await card({
      title: 'No stream here',
      heading: 'There is no stream here',
      text: 'The address may be mistyped, or the stream was removed or is private.',
    }),
    vodNotFound: await card({
      title: 'No video here',
      heading: 'There is no video here',
      text: 'The address may be mistyped, or the video was removed or is private.',
    }),
  };
}

let placeholder: Thumbnail | undefined;

/** A JPEG for live streams and videos without a thumbnail. */
export function placeholderThumbnail(): Thumbnail {
  placeholder ??= {
    body: readFileSync(new URL('placeholder.jpg', folder)),
    contentType: 'image/jpeg',
    etag: '"placeholder"',
  };
  return placeholder;
}

/** A page with the parts that all pages share, and then these values. */
async function fillPage(name: string, values: Readonly<Record<string, string>>): Promise<string> {
  const parts = { head: (await read('head.html')).trimEnd(), icons: (await read('icons.html')).trimEnd() };
  return fillTemplate(fillTemplate(await read(name), parts), values);
}

function read(name: string): Promise<string> {
  return readFile(new URL(name, folder), 'utf8');
}

function packageFile(path: string): URL {
  return pathToFileURL(createRequire(import.meta.url).resolve(path));
}
