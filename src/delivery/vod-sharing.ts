import { escapeHtml } from './player-page.ts';
import { titleOf, type VodPageState } from './vod-page.ts';

/** Where nothing is known of the picture. */
const usualSize = { width: 1280, height: 720 };
const usualEmbedWidth = 640;

/**
 * **Source**: The Open Graph protocol, https://ogp.me
 *
 * What the page of a public video tells sites that it is shared on: title, image, player and file.
 *
 * @param base the server's public address, without a slash at its end
 */
export function sharingMeta(state: VodPageState, base: string): string {
  const { width, height } = sizeOf(state);
  const page = `${base}/vod/${state.videoId}`;
  const video = (address: string, type: string): [string, string][] => [
    ['og:video', address],
    ...(address.startsWith('https:') ? [['og:video:secure_url', address] as [string, string]] : []),
    ['og:video:type', type],
    ['og:video:width', String(width)],
    ['og:video:height', String(height)],
  ];
  const properties: [string, string][] = [
    ['og:type', 'video.other'],
    ['og:title', titleOf(state)],
    ['og:url', page],
    ['og:image', base + state.poster],
    ...(state.duration === null
      ? []
      : [['video:duration', String(Math.ceil(state.duration))] as [string, string]]),
    ...video(page, 'text/html'),
    ...(state.mp4 === null ? [] : video(base + state.mp4, 'video/mp4')),
  ];
  const cards: [string, string][] = [
    ['twitter:card', 'player'],
    ['twitter:title', titleOf(state)],
    ['twitter:image', base + state.poster],
    ['twitter:player', page],
    ['twitter:player:width', String(width)],
    ['twitter:player:height', String(height)],
  ];
  return [
    `<link rel="canonical" href="${escapeHtml(page)}">`,
    `<link rel="alternate" type="application/json+oembed" href="${escapeHtml(`${page}/oembed.json`)}" title="${escapeHtml(titleOf(state))}">`,
    ...properties.map(([name, value]) => `<meta property="${name}" content="${escapeHtml(value)}">`),
    ...cards.map(([name, value]) => `<meta name="${name}" content="${escapeHtml(value)}">`),
  ].join('\n');
}

/**
 * **Source**: oEmbed, https://oembed.com, 2.3.4.2 "The video type"
 *
 * How other sites embed the page of a public video, as an answer for them.
 *
 * @param most the size that the other site has room for, in pixels; NaN where it says nothing
 */
export function describeEmbed(
  state: VodPageState,
  base: string,
  most: { readonly width: number; readonly height: number },
): Readonly<Record<string, string | number>> {
  const size = sizeOf(state);
  const room = {
    width: most.width > 0 ? most.width : Number.POSITIVE_INFINITY,
    height: most.height > 0 ? most.height : Number.POSITIVE_INFINITY,
  };
  const scale = Math.min(usualEmbedWidth / size.width, room.width / size.width, room.height / size.height);
  const width = Math.max(1, Math.floor(size.width * scale));
  const height = Math.max(1, Math.floor(size.height * scale));
  const page = escapeHtml(`${base}/vod/${state.videoId}`);
  return {
    version: '1.0',
    type: 'video',
    title: titleOf(state),
    provider_name: 'Millrace',
    provider_url: base,
    width,
    height,
    html: `<iframe src="${page}" width="${width}" height="${height}" frameborder="0" scrolling="no" allow="autoplay; fullscreen; picture-in-picture" allowfullscreen></iframe>`,
  };
}

function sizeOf({ width, height }: VodPageState): { width: number; height: number } {
  return width === null || height === null || width === 0 || height === 0 ? usualSize : { width, height };
}
