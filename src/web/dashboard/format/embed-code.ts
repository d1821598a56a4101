export interface EmbeddedPlayer {
  readonly url: string;
  readonly title: string;
  readonly size: { readonly width: number; readonly height: number } | undefined;
}

/** A frame with a size, or the element with its script. */
export type EmbedKind = 'responsive' | 'fixed' | 'element';

const fixedLongSidePixels = 640;
const defaultSize = { width: 16, height: 9 };

export function fixedSize({ size = defaultSize }: EmbeddedPlayer): { width: number; height: number } {
  const scale = fixedLongSidePixels / Math.max(size.width, size.height);
  return {
    width: Math.max(1, Math.round(size.width * scale)),
    height: Math.max(1, Math.round(size.height * scale)),
  };
}

export function embedCode(player: EmbeddedPlayer, kind: EmbedKind): string {
  return kind === 'element' ? elementCode(player) : frameCode(player, kind);
}

function elementCode({ url }: EmbeddedPlayer): string {
  const script = new URL('../player.js', url).href;
  return `<script type="module" src="${escapeAttribute(script)}"></script><millrace-player src="${escapeAttribute(url)}"></millrace-player>`;
}

/** The page may style the outer element only. The frame's attributes are for sites that remove styles. */
function frameCode(player: EmbeddedPlayer, kind: 'responsive' | 'fixed'): string {
  const { url, title, size = defaultSize } = player;
  const { width, height } = fixedSize(player);
  const divisor = greatestDivisor(size.width, size.height);
  const ratio = `${size.width / divisor}/${size.height / divisor}`;
  const fluid = size.height > size.width ? `width:100%;max-width:calc(90vh*${ratio})` : 'width:100%';
  const outer = kind === 'fixed' ? `width:${width}px;max-width:100%` : fluid;
  const own = 'all:initial!important;display:block!important;width:100%!important';
  const frame = [
    `<iframe src="${escapeAttribute(url)}" title="${escapeAttribute(title)}" width="${width}" height="${height}"`,
    `style="${own};height:100%!important" allow="autoplay; fullscreen; picture-in-picture" allowfullscreen></iframe>`,
  ].join(' ');
  return `<div style="box-sizing:border-box;${outer}"><div style="${own};align-self:flex-start!important;aspect-ratio:${ratio}!important">${frame}</div></div>`;
}

function greatestDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestDivisor(other, one % other);
}

function escapeAttribute(text: string): string {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`);
}
