import type { PlayerTexts } from '../../i18n/player.ts';
import type { Chapter } from '../../shared/chapters.ts';
import { cueAt } from '../../shared/cue-at.ts';
import { formatTime } from '../../shared/time-text.ts';
import type { PlayerMedia } from '../element/player-media.ts';
import { playbackRates } from '../media/playback-rates.ts';
import {
  type CaptionColor,
  type CaptionEdge,
  type CaptionStyle,
  captionColors,
  captionEdges,
  captionOpacities,
  captionSizes,
  defaultCaptionStyle,
} from './caption-style.ts';
import { captionTracks } from './controls-view.ts';
import type { MenuItem, MenuPage } from './menu.ts';

const problemKeys = {
  loopback: 'player.ultraLowNeedsNetwork',
  codec: 'player.ultraLowNeedsH264',
} as const;

export interface MenuSources {
  readonly media: PlayerMedia;
  readonly texts: PlayerTexts;
  readonly chapters: readonly Chapter[];
  readonly captionStyle: CaptionStyle;
  /** Buttons that the bar has no room for, or that have a place in the menu only. */
  readonly actions: readonly MenuItem[];
  setCaptionStyle(style: CaptionStyle): void;
  clip(seconds: number): void;
}

const clipSeconds = [15, 30, 60] as const;
type Page = () => MenuPage;

/** The pages of the menus, from what the media offers at that moment. */
export class Menus {
  readonly #sources: MenuSources;

  constructor(sources: MenuSources) {
    this.#sources = sources;
  }

  readonly settings = (): MenuPage => {
    const { media, texts, chapters, actions } = this.#sources;
    const { t } = texts;
    const latency = media.latency?.hasUltraLow === true ? media.latency : undefined;
    const audio = [...media.audioTracks];
    const items: MenuItem[] = [
      ...this.#opening(
        latency !== undefined,
        t('player.latency'),
        t(latency?.isUltraLow ? 'player.ultraLow' : 'player.low'),
        this.#latencies,
      ),
      ...this.#opening(this.#hasQualities, t('player.quality'), this.#qualityHint(), this.#qualities),
      ...this.#opening(
        media.streamType !== 'live',
        t('player.speed'),
        this.#rateText(media.playbackRate),
        this.#rates,
      ),
      ...this.#opening(
        audio.length > 1 && latency?.isUltraLow !== true,
        t('player.audio'),
        audio.find(({ enabled }) => enabled)?.label,
        this.#audio,
      ),
      ...this.#opening(
        captionTracks(this.#sources.media).length > 0,
        t('player.captions'),
        this.#shownCaptions?.label ?? t('player.off'),
        this.captions,
      ),
      ...this.#opening(chapters.length > 0, t('player.chapters'), String(chapters.length), this.chapters),
      ...actions,
    ];
    // The only menu is opened at once.
    const only = items.length === 1 ? items[0]?.opens?.() : undefined;
    return only === undefined
      ? { title: t('player.settings'), items }
      : { title: only.title, items: only.items };
  };

  readonly captions = (): MenuPage => {
    const { media, texts } = this.#sources;
    const { t } = texts;
    const shown = this.#shownCaptions;
    return {
      title: t('player.captions'),
      items: [
        {
          label: t('player.off'),
          isChosen: shown === undefined,
          choose: () => media.chooseCaptions(undefined),
        },
        ...captionTracks(this.#sources.media).map(track => ({
          label: track.label || track.language,
          isChosen: track === shown,
          choose: () => media.chooseCaptions(track),
        })),
        { label: t('player.captionStyle'), opens: withBack(this.#captionStyle, this.captions) },
      ],
    };
  };

  readonly chapters = (): MenuPage => {
    const { media, texts, chapters } = this.#sources;
    const present = cueAt(chapters, media.currentTime);
    return {
      title: texts.t('player.chapters'),
      items: chapters.map(chapter => ({
        label: chapter.name,
        hint: formatTime(chapter.startSeconds),
        isChosen: chapter === present,
        choose: () => {
          media.currentTime = chapter.startSeconds;
        },
      })),
    };
  };

  readonly clip = (): MenuPage => {
    const { texts, clip } = this.#sources;
    return {
      title: texts.t('player.clip'),
      items: clipSeconds.map(seconds => ({
        label: texts.t('player.clipLast', { seconds }),
        choose: () => clip(seconds),
      })),
    };
  };

  #opening(isOffered: boolean, label: string, hint: string | undefined, page: Page): MenuItem[] {
    return isOffered ? [{ label, hint, opens: withBack(page, this.settings) }] : [];
  }

  get #shownCaptions(): TextTrack | undefined {
    return captionTracks(this.#sources.media).find(({ mode }) => mode === 'showing');
  }

  get #hasQualities(): boolean {
    const { videoRenditions, streamType } = this.#sources.media;
    return videoRenditions.length > (streamType === 'live' ? 1 : 0);
  }

  #qualityHint(): string {
    const { media, texts } = this.#sources;
    const { videoRenditions, activeQuality } = media;
    const chosen = videoRenditions[videoRenditions.selectedIndex]?.label;
    if (chosen !== undefined) return chosen;
    if (activeQuality === undefined) return texts.t('player.auto');
    return texts.t('player.autoQuality', { quality: activeQuality });
  }

  readonly #qualities = (): MenuPage => {
    const { media, texts } = this.#sources;
    const { videoRenditions: renditions, activeQuality } = media;
    const isAuto = renditions.selectedIndex === -1;
    const choose = (index: number) => () => {
      renditions.selectedIndex = index;
    };
    return {
      title: texts.t('player.quality'),
      items: [
        {
          label: texts.t('player.auto'),
          hint: isAuto ? activeQuality : undefined,
          isChosen: isAuto,
          choose: choose(-1),
        },
        ...[...renditions].map(({ label }, index) => ({
          label,
          hint: resolutionName(label),
          isChosen: renditions.selectedIndex === index,
          choose: choose(index),
        })),
      ],
    };
  };

  readonly #rates = (): MenuPage => {
    const { media, texts } = this.#sources;
    return {
      title: texts.t('player.speed'),
      items: playbackRates.map(rate => ({
        label: this.#rateText(rate),
        isChosen: rate === media.playbackRate,
        choose: () => {
          media.playbackRate = rate;
        },
      })),
    };
  };

  readonly #audio = (): MenuPage => {
    const { media, texts } = this.#sources;
    return {
      title: texts.t('player.audio'),
      items: [...media.audioTracks].map((track, index) => ({
        label: track.label || texts.t('player.track', { number: index + 1 }),
        isChosen: track.enabled,
        choose: () => {
          track.enabled = true;
        },
      })),
    };
  };

  readonly #latencies = (): MenuPage => {
    const { media, texts } = this.#sources;
    const { isUltraLow = false, problem } = media.latency ?? {};
    return {
      title: texts.t('player.latency'),
      items: [
        {
          label: texts.t('player.lowLatency'),
          isChosen: !isUltraLow,
          choose: () => media.latency?.chooseUltraLow(false),
        },
        {
          label: texts.t('player.ultraLowLatency'),
          hint: problem && texts.t(problemKeys[problem]),
          isChosen: isUltraLow,
          choose: () => media.latency?.chooseUltraLow(true),
        },
      ],
    };
  };

  readonly #captionStyle = (): MenuPage => {
    const { texts, captionStyle: style, setCaptionStyle } = this.#sources;
    const { t } = texts;
    const percent = (part: number) => t('player.percent', { value: part });
    const color = (name: CaptionColor) => t(`player.color.${name}`);
    const colors = Object.keys(captionColors) as CaptionColor[];
    const edge = (name: CaptionEdge) => t(edgeLabels[name]);
    const part = <Name extends keyof CaptionStyle>(
      name: Name,
      title: string,
      values: readonly CaptionStyle[Name][],
      label: (value: CaptionStyle[Name]) => string,
    ): MenuItem => ({
      label: title,
      hint: label(style[name]),
      opens: withBack(
        () => ({
          title,
          items: values.map(value => ({
            label: label(value),
            isChosen: this.#sources.captionStyle[name] === value,
            isTrial: true,
            choose: () => setCaptionStyle({ ...this.#sources.captionStyle, [name]: value }),
          })),
        }),
        withBack(this.#captionStyle, this.captions),
      ),
    });
    return {
      title: t('player.captionStyle'),
      items: [
        part('size', t('player.captionSize'), captionSizes, percent),
        part('color', t('player.captionColor'), colors, color),
        part('background', t('player.captionBackground'), colors, color),
        part('opacity', t('player.captionBackgroundOpacity'), captionOpacities, percent),
        part('edge', t('player.captionEdge'), captionEdges, edge),
        {
          label: t('player.captionReset'),
          isTrial: true,
          choose: () => setCaptionStyle(defaultCaptionStyle),
        },
      ],
    };
  };

  #rateText(rate: number): string {
    return rate === 1 ? this.#sources.texts.t('player.normalSpeed') : `${rate}×`;
  }
}

const edgeLabels = {
  none: 'player.captionEdgeNone',
  shadow: 'player.captionEdgeShadow',
  outline: 'player.captionEdgeOutline',
  raised: 'player.captionEdgeRaised',
} as const;

function withBack(page: Page, back: Page): Page {
  return () => ({ ...page(), back });
}

function resolutionName(label: string): string | undefined {
  const lines = Number.parseInt(label, 10);
  if (lines >= 2160) return '4K';
  if (lines >= 1440) return '2K';
  return lines >= 720 ? 'HD' : undefined;
}
