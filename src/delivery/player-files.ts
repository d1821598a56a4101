import { readFileSync } from 'node:fs';
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
import type { RenderedText } from './live-source.ts';
import { unsharedMeta } from './player-page.ts';
import type { Thumbnail } from './thumbnails.ts';

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
  /** A JPEG for streams without a thumbnail. */
  readonly placeholder: Thumbnail;
}

/**
 * Reads the player's sources, strips the types off its TypeScript, and gives every file a name made of its content.
 * Takes some hundred milliseconds, most of them for compressing hls.js.
 */
export function loadPlayerFiles(): PlayerFiles {
  const files = new BrowserFiles('/assets/');
  const modules = new BrowserModules({ files, packages: hlsBuilds, compile: stripTypes });

  const shared = read('player.css') + read('menu.css');
  const styles = files.add('player', 'css', shared, 'text/css; charset=utf-8');
  const vodStyles = files.add('vod', 'css', shared + read('vod.css'), 'text/css; charset=utf-8');
  const icon = files.add('icon', 'svg', read('icon.svg'), 'image/svg+xml');
  const links = { ...modules.addScript(new URL('main.ts', folder)), styles, icon };
  const vodLinks = { ...modules.addScript(new URL('vod-main.ts', folder)), styles: vodStyles, icon };
  const sampleLinks = { ...modules.addScript(new URL('sample-main.ts', folder)), styles: vodStyles, icon };
  const samplePicture = files.add('sample', 'svg', read('placeholder.svg'), 'image/svg+xml');
  const card = (texts: { title: string; heading: string; text: string }) =>
    fillTemplate(fillPage('card.html', links), texts);
  return {
    byName: files.byName,
    page: fillPage('page.html', links),
    vodPage: fillPage('vod.html', vodLinks),
    sample: browserText(
      fillTemplate(fillPage('vod.html', sampleLinks), {
        ...{ title: 'Title of the video', videoId: '', video: '', poster: samplePicture },
        meta: unsharedMeta,
      }),
    ),
    notFound: browserText(
      card({
        title: 'No stream here',
        heading: 'There is no stream here',
        text: 'The address may be mistyped, or the stream was removed or is private.',
      }),
    ),
    vodNotFound: browserText(
      card({
        title: 'No video here',
        heading: 'There is no video here',
        text: 'The address may be mistyped, or the video was removed or is private.',
      }),
    ),
    placeholder: {
      body: readFileSync(new URL('placeholder.jpg', folder)),
      contentType: 'image/jpeg',
      etag: '"placeholder"',
    },
  };
}

/** A page with the parts that all pages share, and then these values. */
function fillPage(name: string, values: Readonly<Record<string, string>>): string {
  const parts = { head: read('head.html').trimEnd(), icons: read('icons.html').trimEnd() };
  return fillTemplate(fillTemplate(read(name), parts), values);
}

function read(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8');
}

function packageFile(path: string): URL {
  return pathToFileURL(createRequire(import.meta.url).resolve(path));
}
