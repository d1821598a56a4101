/**
 * The elements of media-chrome, made to work under a content security policy without `unsafe-inline` that requires trusted types. They
 * write style elements and HTML into their shadow roots.
 */
import 'media-chrome/dist/media-controller.js';
import MediaAirplayButton from 'media-chrome/dist/media-airplay-button.js';
import MediaChromeButton from 'media-chrome/dist/media-chrome-button.js';
import MediaChromeRange from 'media-chrome/dist/media-chrome-range.js';
import MediaContainer from 'media-chrome/dist/media-container.js';
import MediaFullscreenButton from 'media-chrome/dist/media-fullscreen-button.js';
import MediaMuteButton from 'media-chrome/dist/media-mute-button.js';
import MediaPipButton from 'media-chrome/dist/media-pip-button.js';
import MediaPlayButton from 'media-chrome/dist/media-play-button.js';
import MediaPreviewThumbnail from 'media-chrome/dist/media-preview-thumbnail.js';
import { requestMap } from 'media-chrome/dist/media-store/request-map.js';
import { stateMediator } from 'media-chrome/dist/media-store/state-mediator.js';
import MediaTooltip from 'media-chrome/dist/media-tooltip.js';
import 'media-chrome/dist/media-volume-range.js';
import type { PlayerMedia } from '../element/player-media.ts';
import { chaptersOf } from './chapters.ts';
import { trustedHtml } from './trusted-html.ts';

interface TemplateClass {
  prototype: HTMLElement;
  getTemplateHTML: (this: unknown, attributes: Record<string, string>) => string;
}

const styleElements = /<style>([\s\S]*?)<\/style>/g;
/** Elements inside create their own shadow root. */
const innerTemplates = /<template shadowrootmode[\s\S]*?<\/template>/g;

function adoptStyles(base: TemplateClass): void {
  const template = base.getTemplateHTML;
  base.getTemplateHTML = function (attributes) {
    const html = template.call(this, attributes);
    return trustedHtml(html.replaceAll(innerTemplates, '').replaceAll(styleElements, ''));
  };
  base.prototype.attachShadow = function (init) {
    const root = Element.prototype.attachShadow.call(this, init);
    const sheet = new CSSStyleSheet();
    const html = template.call(this.constructor, {}).replaceAll(innerTemplates, '');
    sheet.replaceSync([...html.matchAll(styleElements)].map(([, css]) => css).join('\n'));
    root.adoptedStyleSheets = [sheet];
    return Object.assign(root, lookups(root, sheet));
  };
}

/** Functions through which media-chrome finds the sheet whose rules it changes, and adds to the track of the seek bar. */
function lookups(root: ShadowRoot, sheet: CSSStyleSheet): Record<string, (selectors: string) => unknown> {
  const find = root.querySelector.bind(root);
  const findAll = root.querySelectorAll.bind(root);
  return {
    querySelectorAll: selectors => (selectors === 'style:not([media])' ? [{ sheet }] : findAll(selectors)),
    querySelector: selectors => {
      const found = find(selectors);
      if (found?.id === 'track')
        found.insertAdjacentHTML = (position, html) =>
          Element.prototype.insertAdjacentHTML.call(found, position, trustedHtml(html));
      return found;
    },
  };
}

for (const base of [MediaChromeButton, MediaChromeRange, MediaContainer, MediaPreviewThumbnail, MediaTooltip])
  adoptStyles(base as unknown as TemplateClass);

// Tooltips are in the language of their player: media-chrome has one for the page.
for (const button of [
  MediaAirplayButton,
  MediaChromeButton,
  MediaFullscreenButton,
  MediaMuteButton,
  MediaPipButton,
  MediaPlayButton,
])
  (button as unknown as { getTooltipContentHTML(): string }).getTooltipContentHTML = () => trustedHtml('');

// media-chrome parses texts as HTML, which trusted types refuse.
stateMediator.mediaChaptersCues.get = ({ media }) =>
  chaptersOf((media?.textTracks ?? []) as Iterable<TextTrack>).map(({ startSeconds, endSeconds, name }) => ({
    startTime: startSeconds,
    endTime: endSeconds,
    text: name,
  }));

// Frames of live streams are no cues: they are made when the pointer comes.
const previewOf = requestMap.mediapreviewrequest;
requestMap.mediapreviewrequest = (mediator, owners, request) => {
  const preview = previewOf(mediator, owners, request) as object;
  const media = owners.media as unknown as PlayerMedia | undefined;
  const seconds = request.detail as number | null | undefined;
  const frame = seconds == null ? undefined : media?.frameAt?.(seconds);
  if (frame === undefined) return preview;
  const { url, x, y, width, height } = frame;
  return { ...preview, mediaPreviewImage: url, mediaPreviewCoords: [x, y, width, height] };
};
