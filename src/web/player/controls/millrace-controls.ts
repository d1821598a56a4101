import type MediaController from 'media-chrome/dist/media-controller.js';
import { englishPlayerTexts, type PlayerTexts } from '../../i18n/player.ts';
import { cueAt } from '../../shared/cue-at.ts';
import { formatTime } from '../../shared/time-text.ts';
import {
  changeEvent,
  framesEvent,
  type PlayerDetails,
  type PlayerEntry,
  type PlayerMedia,
} from '../element/player-media.ts';
import { CaptionSheet } from './caption-style.ts';
import { chaptersOf } from './chapters.ts';
import styles from './controls.css';
import { type ChromeState, ControlsView, seekable, type ViewState } from './controls-view.ts';
import type { ExtrasTarget } from './extras.ts';
import { ExtrasLoader } from './extras-loader.ts';
import { seekText } from './formats.ts';
import { Fullscreen } from './fullscreen.ts';
import { Gestures } from './gestures.ts';
import { onPlayerKey, onSliderKey } from './keyboard.ts';
import { hasSettings, isOffered, menuActions } from './menu-actions.ts';
import { Messages } from './messages.ts';
import { Playlist } from './playlist.ts';
import { Resume } from './resume.ts';
import { screenButtons } from './screen-buttons.ts';
import { type ScreenText, screenOf } from './screens.ts';
import { controlsTemplate } from './template.ts';
import { replaceColors, showLogo } from './theme.ts';
import type { TimeRange } from './time-range.ts';
import './time-range.ts';
import { trustedHtml } from './trusted-html.ts';

const latencyRefreshMs = 500;
/** Playback that waits this close to the end of a video that grows waits for the rest. */
const growingEdgeSeconds = 3;

const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);

/** Attributes that `millrace-player` passes on. */
const observed = [
  ...['hide-controls', 'hide-title', 'hide-poster', 'hide-share'],
  ...['playlist', 'theatre', 'page-keyboard', 'resume', 'start'],
];

/**
 * The controls of a player, around a `millrace-video` in the slot `media`. Events: `millracetheatre` with the wish of the viewer as
 * `detail`, and `millracesource` with the `url` of another video to play.
 */
export class MillraceControls extends HTMLElement {
  static readonly observedAttributes = observed;
  readonly #root = this.attachShadow({ mode: 'open' });
  readonly #view = new ControlsView(this.#root);
  readonly #messages = new Messages(this.#view);
  readonly #captions = new CaptionSheet();
  readonly #extras = new ExtrasLoader(this.#extrasTarget());
  readonly #resume = new Resume(this);
  readonly #fullscreen = new Fullscreen();
  #texts: PlayerTexts = englishPlayerTexts;
  #media: PlayerMedia | undefined;
  #chrome: ChromeState = {};
  #playlist = new Playlist<PlayerEntry>(null);
  #isTheatre = false;
  #isBuffering = false;
  #isWaitingForRest = false;
  #focusesPlayButton = false;
  #shownDetails: PlayerDetails | undefined;
  #shownScreen = '';
  #connection: AbortController | undefined;
  #attachment: AbortController | undefined;

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [sheet];
    const template = document.createElement('template');
    template.innerHTML = trustedHtml(controlsTemplate);
    this.#root.append(document.importNode(template.content, true));
    this.#wireButtons();
  }

  /** Texts in the language of the player; English until they are set. */
  get texts(): PlayerTexts {
    return this.#texts;
  }

  set texts(texts: PlayerTexts) {
    this.#texts = texts;
    this.#view.get('player').lang = texts.language;
    // The bar of buttons keeps the direction of players.
    this.#view.get('stage').dir = texts.direction;
    this.#shownScreen = '';
    this.#showDetails(this.#shownDetails);
    this.#refresh();
  }

  /** True while the controls are hidden, because nobody uses them. */
  get isIdle(): boolean {
    const media = this.#media;
    if (media === undefined || !media.wantsToPlay || this.#extras.loaded?.menu.isOpen) return false;
    // The button that opened a dialog gets the focus back.
    if (this.#view.get('dialogs').childElementCount > 0) return false;
    if (this.#view.get<TimeRange>('seek').isDragged || !this.#controller.hasAttribute('userinactive'))
      return false;
    return !this.#view.get('controls').matches(':has(:focus-visible)');
  }

  get #controller(): MediaController {
    return this.#view.get<MediaController>('player');
  }

  connectedCallback(): void {
    this.#connection = new AbortController();
    const { signal } = this.#connection;
    const controller = this.#controller;
    controller.fullscreenElement = this;
    this.#root.querySelector('slot')?.addEventListener('slotchange', () => this.#attach(), { signal });
    controller.addEventListener('userinactivechange', () => this.#refresh(), { signal });
    // The controller is connected after its host.
    queueMicrotask(() => {
      if (!signal.aborted) this.#watchChrome(controller, signal);
    });
    for (const event of ['focusin', 'focusout'])
      this.addEventListener(event, () => this.#refresh(), { signal });
    document.addEventListener('keydown', event => this.#onKey(event), { signal });
    document.addEventListener('pointerdown', event => this.#extras.loaded?.menu.dismiss(event), { signal });
    addEventListener('pagehide', () => this.#resume.save(this.#media), { signal });
    const timer = setInterval(() => {
      if (this.#media?.streamType === 'live') this.#refresh();
    }, latencyRefreshMs);
    signal.addEventListener('abort', () => clearInterval(timer));
    this.#attach();
  }

  #watchChrome({ mediaStore }: MediaController, signal: AbortSignal): void {
    let frame = 0;
    // One moment of the media changes it several times.
    const take = (state: unknown) => {
      this.#chrome = state as ChromeState;
      if (frame !== 0) return;
      frame = requestAnimationFrame(() => {
        frame = 0;
        this.#refresh();
      });
    };
    const leave = mediaStore.subscribe(take);
    signal.addEventListener('abort', () => {
      leave();
      cancelAnimationFrame(frame);
    });
    this.#chrome = mediaStore.getState() as ChromeState;
    this.#refresh();
  }

  disconnectedCallback(): void {
    this.#resume.save(this.#media);
    this.#connection?.abort();
    this.#connection = undefined;
    this.#attachment?.abort();
    this.#media = undefined;
    this.#extras.loaded?.endScreen.hide();
    this.#messages.stop();
  }

  attributeChangedCallback(name: string, _: string | null, value: string | null): void {
    if (name.startsWith('hide-')) this.#view.get('player').classList.toggle(name, value !== null);
    if (name === 'playlist') this.#playlist = new Playlist(value);
    if (name === 'hide-controls' && value !== null) this.#extras.loaded?.menu.close();
    this.#refresh();
  }

  #attach(): void {
    const media = [...this.children].find(({ slot }) => slot === 'media') as PlayerMedia | undefined;
    if (media === this.#media || media === undefined) return;
    if (media.localName.includes('-') && !media.matches(':defined')) {
      void customElements.whenDefined(media.localName).then(() => this.#attach());
      return;
    }
    this.#attachment?.abort();
    this.#attachment = new AbortController();
    const { signal } = this.#attachment;
    this.#media = media;
    this.#captions.applyTo(media);
    new Gestures(this.#controller, this.#gestureTarget(media), signal);
    const on = (event: string, listener: () => void) => media.addEventListener(event, listener, { signal });
    for (const event of ['waiting', 'seeking']) on(event, () => this.#setBuffering(true));
    for (const event of ['playing', 'canplay', 'seeked', 'pause']) on(event, () => this.#setBuffering(false));
    on('emptied', () => this.#setBuffering(media.streamType === 'live'));
    const onPlaying = () => {
      this.#extras.preload();
      void this.#describeNext(media);
    };
    on('playing', onPlaying);
    on('loadeddata', () => this.#continue(media));
    on('timeupdate', () => this.#resume.saveSometimes(media));
    for (const event of ['pause', 'ended']) on(event, () => this.#resume.save(media));
    on(changeEvent, () => this.#onChange());
    on(framesEvent, () => this.#refreshPreview());
    for (const list of [media.textTracks, media.videoRenditions, media.audioTracks])
      for (const event of ['addtrack', 'removetrack', 'change', 'addrendition', 'removerendition'])
        list.addEventListener(event, () => this.#refreshMenu(), { signal });
    for (const event of ['ratechange', 'volumechange', 'resize']) on(event, () => this.#refreshMenu());
    // Playback may have begun before the controls were there.
    if (media.hasBegun && media.wantsToPlay) {
      this.#isBuffering = media.seeking || media.readyState < HTMLMediaElement.HAVE_FUTURE_DATA;
      onPlaying();
    }
    this.#onChange();
  }

  #onChange(): void {
    const media = this.#media!;
    const { details, muted, paused } = media;
    // Events before media-chrome listens are lost.
    if (this.#chrome.mediaMuted !== muted || this.#chrome.mediaPaused !== paused)
      this.#controller.mediaStore?.dispatch({ type: 'optionschangerequest', detail: {} });
    if (details !== this.#shownDetails) this.#showDetails(details);
    this.#continue(media);
    this.#refreshMenu();
  }

  /** The pointer may rest where the frame was missing. */
  #refreshPreview(): void {
    const { mediaPreviewTime } = this.#chrome;
    if (mediaPreviewTime === undefined) return;
    this.#controller.mediaStore?.dispatch({ type: 'mediapreviewrequest', detail: mediaPreviewTime });
  }

  #refreshMenu(): void {
    this.#refresh();
    this.#extras.loaded?.menu.refresh();
  }

  #refresh(): void {
    const media = this.#media;
    if (media === undefined || !this.isConnected) return;
    const state = this.#viewState(media);
    this.#view.render(media, this.#texts, state);
    this.#showScreenActions(screenOf(media, this.#texts));
    this.style.setProperty('--millrace-caption-lift', this.#areControlsShown ? '88px' : '0px');
    if (state.isAtEnd && media.details?.kind === 'video') this.#showEnd();
    else this.#extras.loaded?.endScreen.hide();
    if (!this.#focusesPlayButton || !media.hasBegun) return;
    this.#focusesPlayButton = false;
    this.#view.get('play').focus({ preventScroll: true });
  }

  get #areControlsShown(): boolean {
    const { classList } = this.#view.get('player');
    return !['is-idle', 'is-fresh', 'hide-controls', 'has-screen'].some(name => classList.contains(name));
  }

  #viewState(media: PlayerMedia): ViewState {
    const chapters = chaptersOf(media.textTracks);
    return {
      chrome: this.#chrome,
      chapter: cueAt(chapters, media.currentTime)?.name ?? '',
      hasChapters: chapters.length > 0,
      hasPrevious: this.#playlist.neighbor(media.details?.id, -1) !== undefined,
      hasNext: this.#nextUrl !== undefined,
      hasPlaylist: this.#playlist.urls.length > 1,
      canShare: this.#canShare,
      hasSettings: hasSettings(this.#view, media, this.#texts),
      canClip: media.clips?.canClip === true,
      isTheatre: this.hasAttribute('theatre') ? this.#isTheatre : undefined,
      isIdle: this.isIdle,
      isBuffering: this.#isBuffering,
      isWaitingForRest: this.#isWaitingForRest,
      isAtEnd: media.isAtEnd && !media.wantsToPlay,
    };
  }

  get #canShare(): boolean {
    return this.#media?.details !== undefined && !this.hasAttribute('hide-share');
  }

  get #nextUrl(): string | undefined {
    return this.#nextInList ?? this.#media!.details?.next?.url;
  }

  get #nextInList(): string | undefined {
    const index = this.#playlist.neighbor(this.#media!.details?.id, 1);
    return index === undefined ? undefined : this.#playlist.urls[index];
  }

  #setBuffering(isBuffering: boolean): void {
    const media = this.#media!;
    this.#isBuffering = isBuffering;
    this.#isWaitingForRest =
      isBuffering && media.isGrowing && media.availableSeconds - media.currentTime < growingEdgeSeconds;
    this.#refresh();
  }

  /** The end screen shows it. */
  async #describeNext(media: PlayerMedia): Promise<void> {
    const url = this.#nextInList;
    if (url) await this.#playlist.describe(url, next => media.describe(next));
  }

  #showDetails(details: PlayerDetails | undefined): void {
    const isFirst = this.#shownDetails?.id !== details?.id;
    this.#shownDetails = details;
    const poster = this.#view.get<HTMLImageElement>('poster');
    if (details?.poster === undefined) poster.removeAttribute('src');
    else if (poster.src !== details.poster) poster.src = details.poster;
    replaceColors(this, details?.colors ?? {});
    showLogo(this.#view.get('logo'), details?.logo, this.#texts.t('player.visitSite'));
    if (isFirst) this.#extras.loaded?.endScreen.hide();
  }

  #showScreenActions(screen: ScreenText | undefined): void {
    const key = `${screen?.actions} ${this.#canShare}`;
    if (key === this.#shownScreen) return;
    this.#shownScreen = key;
    const share = this.#canShare ? () => void this.openShareSheet() : undefined;
    const buttons = screenButtons(screen?.actions ?? [], this.#media!, this.#texts, share);
    this.#view.get('screen-actions').replaceChildren(...buttons);
  }

  #showEnd(): void {
    const extras = this.#extras.loaded;
    if (extras === undefined) {
      this.#extras.preload();
      return;
    }
    const media = this.#media!;
    const url = this.#nextUrl;
    const { next } = media.details!;
    extras.endScreen.show(
      {
        next:
          url === undefined
            ? undefined
            : next?.url === url
              ? next
              : { title: '', ...this.#playlist.entryOf(url), url },
        canShare: this.#canShare,
        replay: () => {
          void media.play();
          this.#view.get('play').focus({ preventScroll: true });
        },
        share: () => void this.openShareSheet(),
        playNext: () => this.#playNext(),
      },
      this.#texts,
    );
  }

  #playNext(): void {
    const { details } = this.#media!;
    const index = this.#playlist.neighbor(details?.id, 1);
    if (index === undefined) this.#playOther(details?.next?.url);
    else this.#playEntry(index);
  }

  #playEntry(index: number | undefined, playlist = this.#playlist): void {
    if (index !== undefined) this.#playOther(playlist.choose(index));
  }

  #playOther(url: string | undefined): void {
    if (url === undefined) return;
    this.#extras.loaded?.endScreen.hide();
    this.#emit('millracesource', { url });
  }

  #emit(type: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(type, { bubbles: true, composed: true, detail }));
  }

  #wireButtons(): void {
    const on = (id: string, listener: (event: MouseEvent) => void) =>
      this.#view.get(id).addEventListener('click', listener);
    // media-chrome's own buttons know what a key does. This one only tells of it.
    for (const button of this.#root.querySelectorAll<ChromeButton>('media-chrome-button'))
      button.handleClick = ({ type }) => {
        if (type === 'keyup') button.click();
      };
    this.#view.get<ChromeButton>('fullscreen').handleClick = () => this.#toggleFullscreen();
    on('settings', () => this.#extras.toggleMenu('settings', menus => menus.settings));
    on('captions', () => this.#extras.toggleMenu('captions', menus => menus.captions));
    on('chapter', () => this.#extras.toggleMenu('chapter', menus => menus.chapters));
    on('clip', () => this.#extras.toggleMenu('clip', menus => menus.clip));
    on('share', () => void this.openShareSheet());
    on('previous', () => this.#playEntry(this.#playlist.neighbor(this.#media?.details?.id, -1)));
    on('next', () => this.#playNext());
    on('playlist', () => this.#extras.openPlaylist());
    on('live', () => this.#media?.goToLive());
    on('unmute', () => {
      this.#media!.muted = false;
    });
    on('big-play', ({ detail }) => {
      // The button disappears, so the focus moves to the controls.
      this.#focusesPlayButton = detail === 0;
      void this.#media?.play();
    });
    on('theatre', () => {
      this.#isTheatre = !this.#isTheatre;
      this.#emit('millracetheatre', this.#isTheatre);
      this.#refresh();
    });
  }

  /** The button knows a frame later than the browser whether the player fills the screen. */
  #toggleFullscreen(): void {
    const media = this.#media;
    if (media === undefined) return;
    if (this.#chrome.mediaIsPip)
      this.#controller.mediaStore?.dispatch({ type: 'mediaexitpiprequest', detail: undefined });
    void this.#fullscreen.toggle({ media, fullscreenElement: this, documentElement: document });
  }

  #extrasTarget(): ExtrasTarget {
    const controls = this;
    return {
      root: this.#root,
      view: this.#view,
      captions: this.#captions,
      get media() {
        return controls.#media;
      },
      get texts() {
        return controls.#texts;
      },
      get playlist() {
        return controls.#playlist;
      },
      get hasTheatre() {
        return controls.hasAttribute('theatre');
      },
      menuActions: media => menuActions(this.#view, media, this.#texts),
      playEntry: (index, playlist) => this.#playEntry(index, playlist),
      refresh: () => this.#refresh(),
    };
  }

  /** Shows ways to share what plays, if it is known yet. */
  openShareSheet(): Promise<void> {
    return this.#extras.openShareSheet();
  }

  #gestureTarget(media: PlayerMedia): ConstructorParameters<typeof Gestures>[1] {
    return {
      media,
      isTaken: () => this.#extras.loaded?.menu.takeDismissal() === true,
      get canSeek() {
        const { start, end } = seekable(media);
        return media.hasBegun && end > start;
      },
      toggleFullscreen: () => this.#view.get('fullscreen').click(),
      showSeek: (seconds, side) => {
        this.#messages.hint(seekText(seconds));
        const ripple = this.#view.get('ripple');
        ripple.className = 'ripple';
        // Starts the animation again.
        void ripple.offsetWidth;
        ripple.classList.add(`is-${side}`);
      },
      showSwipe: seconds => this.#messages.hint(seekText(seconds)),
    };
  }

  #onKey(event: KeyboardEvent): void {
    const media = this.#media;
    // The focus may go to the controls, which have to be visible then.
    if (event.key === 'Tab') this.#showControls();
    const path = event.composedPath();
    const isInside = path.includes(this);
    const isOnPage = this.hasAttribute('page-keyboard') && path[0] instanceof HTMLElement;
    if (media === undefined || !(isInside || isOnPage)) return;
    if (onSliderKey(event, media) || onPlayerKey(event, this.#keyboardTarget(media))) this.#showControls();
  }

  /** Shows the controls for a moment, as a key does that media-chrome receives. */
  #showControls(): void {
    this.#controller.dispatchEvent(new KeyboardEvent('keyup'));
    this.#refresh();
  }

  #keyboardTarget(media: PlayerMedia): Parameters<typeof onPlayerKey>[1] {
    return {
      media,
      texts: this.#texts,
      isReady: ['live', 'reconnecting', 'ready'].includes(media.phase),
      hint: text => this.#messages.hint(text),
      press: id => {
        const button = this.#view.get(id);
        if (isOffered(button)) button.click();
      },
      openHelp: () => this.#extras.openKeyHelp(media),
    };
  }

  #continue(media: PlayerMedia): void {
    const seconds = this.#resume.continue(media);
    if (seconds === undefined) return;
    const { t } = this.#texts;
    const text = t('player.resumedAt', { time: formatTime(seconds) });
    this.#messages.toast(text, t('player.startOver'), () => {
      media.currentTime = 0;
    });
  }
}

type ChromeButton = HTMLElement & { handleClick(event: Event): void };

// Another copy of this code may be on the page.
if (customElements.get('millrace-controls') === undefined)
  customElements.define('millrace-controls', MillraceControls);
