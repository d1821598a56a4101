import type MediaController from 'media-chrome/dist/media-controller.js';
import { englishPlayerTexts, type PlayerTexts } from '../../i18n/player.ts';
import { cueAt } from '../../shared/cue-at.ts';
import { saveFile } from '../../shared/save-file.ts';
import { formatTime } from '../../shared/time-text.ts';
import {
  changeEvent,
  framesEvent,
  type PlayerDetails,
  type PlayerEntry,
  type PlayerMedia,
} from '../element/player-media.ts';
import { type CaptionStyle, captionCss, loadCaptionStyle, saveCaptionStyle } from './caption-style.ts';
import { chaptersOf } from './chapters.ts';
import styles from './controls.css';
import { type ChromeState, ControlsView, captionTracks, seekable, type ViewState } from './controls-view.ts';
import { createButton, createElement } from './elements.ts';
import { seekText } from './formats.ts';
import { Fullscreen } from './fullscreen.ts';
import { Gestures } from './gestures.ts';
import { onPlayerKey } from './keyboard.ts';
import type { MenuItem } from './menu.ts';
import type { Menus } from './menus.ts';
import { Playlist } from './playlist.ts';
import { savedPosition, savePosition } from './resume.ts';
import { type ScreenText, screenOf } from './screens.ts';
import { controlsTemplate } from './template.ts';
import { replaceColors, showLogo } from './theme.ts';
import type { TimeRange } from './time-range.ts';
import './time-range.ts';
import { trustedHtml } from './trusted-html.ts';

const latencyRefreshMs = 500;
const hintMs = 900;
const toastMs = 8000;
const minSaveMs = 5000;
/** Playback that waits this close to the end of a video that grows waits for the rest. */
const growingEdgeSeconds = 3;
const keySeconds = 5;
const pageFraction = 0.1;
const livePageSeconds = 60;

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
  readonly #captionSheet = new CSSStyleSheet();
  #texts: PlayerTexts = englishPlayerTexts;
  #media: PlayerMedia | undefined;
  #extras: Extras | undefined;
  #loadingExtras: Promise<Extras> | undefined;
  #captionStyle: CaptionStyle = loadCaptionStyle();
  #chrome: ChromeState = {};
  readonly #fullscreen = new Fullscreen();
  #playlist = new Playlist<PlayerEntry>(null);
  #nextEntry: PlayerEntry | undefined;
  #isTheatre = false;
  #isBuffering = false;
  #isWaitingForRest = false;
  #focusesPlayButton = false;
  #resumedId: string | undefined;
  #savedAtMs = 0;
  #shownDetails: PlayerDetails | undefined;
  #shownScreen = '';
  #hintTimer = 0;
  #toastTimer = 0;
  #connection: AbortController | undefined;

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
    this.#shownScreen = '';
    this.#refresh();
  }

  /** True while the controls are hidden, because nobody uses them. */
  get isIdle(): boolean {
    const media = this.#media;
    if (media === undefined || !media.wantsToPlay || this.#extras?.menu.isOpen) return false;
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
    document.addEventListener('pointerdown', event => this.#extras?.menu.dismiss(event), { signal });
    addEventListener('pagehide', () => this.#savePosition(), { signal });
    const timer = setInterval(() => {
      if (this.#media?.streamType === 'live') this.#refresh();
    }, latencyRefreshMs);
    signal.addEventListener('abort', () => clearInterval(timer));
    this.#attach();
  }

  #watchChrome({ mediaStore }: MediaController, signal: AbortSignal): void {
    const take = (state: unknown) => {
      this.#chrome = state as ChromeState;
      this.#refresh();
    };
    signal.addEventListener('abort', mediaStore.subscribe(take));
    take(mediaStore.getState());
  }

  disconnectedCallback(): void {
    this.#savePosition();
    this.#connection?.abort();
    this.#connection = undefined;
    this.#detach?.abort();
    this.#media = undefined;
    this.#extras?.endScreen.hide();
    clearTimeout(this.#hintTimer);
    clearTimeout(this.#toastTimer);
  }

  attributeChangedCallback(name: string, _: string | null, value: string | null): void {
    if (name.startsWith('hide-')) this.#view.get('player').classList.toggle(name, value !== null);
    if (name === 'playlist') this.#playlist = new Playlist(value);
    if (name === 'hide-controls' && value !== null) this.#extras?.menu.close();
    this.#refresh();
  }

  #detach: AbortController | undefined;

  #attach(): void {
    const media = [...this.children].find(({ slot }) => slot === 'media') as PlayerMedia | undefined;
    if (media === this.#media || media === undefined) return;
    if (media.localName.includes('-') && !media.matches(':defined')) {
      void customElements.whenDefined(media.localName).then(() => this.#attach());
      return;
    }
    this.#detach?.abort();
    this.#detach = new AbortController();
    const { signal } = this.#detach;
    this.#media = media;
    this.#adoptCaptionStyle(media);
    new Gestures(this.#controller, this.#gestureTarget(media), signal);
    const on = (event: string, listener: () => void) => media.addEventListener(event, listener, { signal });
    for (const [event, isBuffering] of [
      ['waiting', true],
      ['seeking', true],
      ['playing', false],
      ['canplay', false],
      ['seeked', false],
      ['pause', false],
    ] as const)
      on(event, () => this.#setBuffering(isBuffering));
    on('emptied', () => this.#setBuffering(media.streamType === 'live'));
    on('playing', () => {
      this.#preloadExtras();
      void this.#describeNext(media);
    });
    on('loadeddata', () => this.#resume());
    on('timeupdate', () => this.#onTimeUpdate());
    on('pause', () => this.#savePosition());
    on('ended', () => this.#savePosition());
    on(changeEvent, () => this.#onChange());
    on(framesEvent, () => this.#refreshPreview());
    for (const list of [media.textTracks, media.videoRenditions, media.audioTracks])
      for (const event of ['addtrack', 'removetrack', 'change', 'addrendition', 'removerendition'])
        list.addEventListener(event, () => this.#refreshMenu(), { signal });
    for (const event of ['ratechange', 'volumechange', 'resize']) on(event, () => this.#refreshMenu());
    this.#onChange();
  }

  #onChange(): void {
    const { details, muted, paused } = this.#media!;
    // Events before media-chrome listens are lost.
    if (this.#chrome.mediaMuted !== muted || this.#chrome.mediaPaused !== paused)
      this.#controller.mediaStore?.dispatch({ type: 'optionschangerequest', detail: {} });
    if (details !== this.#shownDetails) this.#showDetails(details);
    this.#resume();
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
    this.#extras?.menu.refresh();
  }

  #refresh(): void {
    const media = this.#media;
    if (media === undefined || !this.isConnected) return;
    const state = this.#viewState(media);
    this.#view.render(media, this.#texts, state);
    this.#showScreenActions(screenOf(media, this.#texts));
    this.style.setProperty('--millrace-caption-lift', this.#areControlsShown ? '88px' : '0px');
    if (state.isAtEnd && media.details?.kind === 'video') this.#showEnd();
    else this.#extras?.endScreen.hide();
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
      hasSettings: this.#hasSettings(media),
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

  #hasSettings(media: PlayerMedia): boolean {
    return (
      media.streamType !== 'live' ||
      media.latency?.hasUltraLow === true ||
      media.videoRenditions.length > 1 ||
      media.audioTracks.length > 1 ||
      captionTracks(media).length > 0 ||
      this.#menuActions(media).length > 0
    );
  }

  get #nextUrl(): string | undefined {
    const { details } = this.#media!;
    const index = this.#playlist.neighbor(details?.id, 1);
    return index === undefined ? details?.next?.url : this.#playlist.urls[index];
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
    const index = this.#playlist.neighbor(media.details?.id, 1);
    const url = index === undefined ? undefined : this.#playlist.urls[index];
    this.#nextEntry = undefined;
    const entry = url && (await this.#playlist.describe(url, next => media.describe(next)));
    if (entry && url === this.#nextUrl) this.#nextEntry = entry;
  }

  #showDetails(details: PlayerDetails | undefined): void {
    const isFirst = this.#shownDetails?.id !== details?.id;
    this.#shownDetails = details;
    const poster = this.#view.get<HTMLImageElement>('poster');
    if (details?.poster === undefined) poster.removeAttribute('src');
    else if (poster.src !== details.poster) poster.src = details.poster;
    replaceColors(this, details?.colors ?? {});
    showLogo(this.#view.get('logo'), details?.logo, this.#texts.t('player.visitSite'));
    if (isFirst) this.#extras?.endScreen.hide();
  }

  #showScreenActions(screen: ScreenText | undefined): void {
    const { t } = this.#texts;
    const key = `${screen?.actions} ${this.#canShare}`;
    if (key === this.#shownScreen) return;
    this.#shownScreen = key;
    const media = this.#media!;
    const actions = (screen?.actions ?? []).flatMap((action): HTMLElement[] => {
      if (action === 'try-again') return [createButton(t('player.tryAgain'), () => media.load())];
      if (action === 'share')
        return this.#canShare ? [createButton(t('player.share'), () => void this.openShareSheet())] : [];
      const { pageUrl } = media.details ?? {};
      if (pageUrl === undefined) return [];
      const { host } = new URL(pageUrl, location.href);
      const text = t('player.watchOn', { site: host });
      return [
        createElement('a', { className: 'action', text, href: pageUrl, target: '_blank', rel: 'noopener' }),
      ];
    });
    this.#view.get('screen-actions').replaceChildren(...actions);
  }

  #showEnd(): void {
    if (this.#extras === undefined) {
      this.#preloadExtras();
      return;
    }
    const media = this.#media!;
    const url = this.#nextUrl;
    const { next } = media.details!;
    this.#extras.endScreen.show(
      {
        next:
          url === undefined ? undefined : next?.url === url ? next : { title: '', ...this.#nextEntry, url },
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
    this.#extras?.endScreen.hide();
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
    on('settings', () => this.#toggleMenu('settings', menus => menus.settings));
    on('captions', () => this.#toggleMenu('captions', menus => menus.captions));
    on('chapter', () => this.#toggleMenu('chapter', menus => menus.chapters));
    on('clip', () => this.#toggleMenu('clip', menus => menus.clip));
    on('share', () => void this.openShareSheet());
    on('previous', () => this.#playEntry(this.#playlist.neighbor(this.#media?.details?.id, -1)));
    on('next', () => this.#playNext());
    on('playlist', () => void this.#openPlaylist());
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

  #toggleMenu(id: string, page: (menus: Menus) => Menus['settings']): void {
    const toggle = ({ menu, menus }: Extras) => menu.toggle(this.#view.get(id), page(menus));
    // A click on a menu that is there opens it at once.
    if (this.#extras !== undefined) toggle(this.#extras);
    else void this.#loadExtras().then(toggle, () => {});
  }

  #preloadExtras(): void {
    this.#loadExtras().catch(() => {});
  }

  #loadExtras(): Promise<Extras> {
    this.#loadingExtras ??= this.#createExtras().catch((error: unknown) => {
      // The next use tries again.
      this.#loadingExtras = undefined;
      throw error;
    });
    return this.#loadingExtras;
  }

  async #createExtras(): Promise<Extras> {
    const code = await import('./extras.ts');
    const extraSheet = new CSSStyleSheet();
    extraSheet.replaceSync(code.styles);
    this.#root.adoptedStyleSheets = [...this.#root.adoptedStyleSheets, extraSheet];
    this.#extras = {
      menu: new code.Menu({
        element: this.#view.get('menu'),
        texts: () => this.#texts,
        onToggle: () => this.#refresh(),
      }),
      menus: new code.Menus(this.#menuSources()),
      endScreen: new code.EndScreen(this.#view.get('end')),
      clipCard: new code.ClipCard(this.#view.get('clip-card'), this.#view.get('clip')),
      openKeyHelp: code.openKeyHelp,
      openPlaylist: code.openPlaylist,
    };
    this.#refresh();
    return this.#extras;
  }

  #menuSources(): ConstructorParameters<typeof Menus>[0] {
    const controls = this;
    return {
      get media() {
        return controls.#media!;
      },
      get texts() {
        return controls.#texts;
      },
      get chapters() {
        return chaptersOf(controls.#media!.textTracks);
      },
      get captionStyle() {
        return controls.#captionStyle;
      },
      get actions() {
        return controls.#menuActions(controls.#media!);
      },
      setCaptionStyle: style => this.#setCaptionStyle(style),
      clip: seconds => void this.#extras?.clipCard.create(this.#media!, this.#texts, seconds),
    };
  }

  /** Entries of the menu for buttons that the bar has no room for, and for the download. */
  #menuActions(media: PlayerMedia): MenuItem[] {
    const { t } = this.#texts;
    const { downloadUrl } = media.details ?? {};
    const hidden = (id: string, label: string): MenuItem[] => {
      const button = this.#view.get(id);
      const isOffered = !button.hidden && !button.hasAttribute('mediapipunavailable');
      const isInBar = getComputedStyle(button).display !== 'none';
      return isOffered && !isInBar ? [{ label, choose: () => button.click() }] : [];
    };
    return [
      ...hidden('playlist', t('player.playlist')),
      ...hidden('share', t('player.share')),
      ...hidden('pip', t('player.pictureInPicture')),
      ...(downloadUrl === undefined
        ? []
        : [{ label: t('player.download'), choose: () => download(downloadUrl) }]),
    ];
  }

  #setCaptionStyle(style: CaptionStyle): void {
    this.#captionStyle = style;
    saveCaptionStyle(style);
    this.#captionSheet.replaceSync(captionCss(style));
  }

  #adoptCaptionStyle(media: PlayerMedia): void {
    this.#captionSheet.replaceSync(captionCss(this.#captionStyle));
    const root = media.shadowRoot;
    if (root !== null && !root.adoptedStyleSheets.includes(this.#captionSheet))
      root.adoptedStyleSheets = [...root.adoptedStyleSheets, this.#captionSheet];
  }

  /** Shows ways to share what plays, if it is known yet. */
  async openShareSheet(): Promise<void> {
    const media = this.#media;
    if (media?.details === undefined) return;
    const seconds = media.details.kind === 'video' ? media.currentTime : undefined;
    const [{ openShareSheet }] = await Promise.all([import('./share-sheet.ts'), this.#loadExtras()]);
    if (media.details !== undefined)
      openShareSheet(this.#view.get('dialogs'), this.#texts, media.details, seconds);
  }

  #gestureTarget(media: PlayerMedia): ConstructorParameters<typeof Gestures>[1] {
    return {
      media,
      isTaken: () => this.#extras?.menu.takeDismissal() === true,
      get canSeek() {
        const { start, end } = seekable(media);
        return media.hasBegun && end > start;
      },
      toggleFullscreen: () => this.#view.get('fullscreen').click(),
      showSeek: (seconds, side) => {
        this.#hint(seekText(seconds));
        const ripple = this.#view.get('ripple');
        ripple.className = 'ripple';
        // Starts the animation again.
        void ripple.offsetWidth;
        ripple.classList.add(`is-${side}`);
      },
      showSwipe: seconds => this.#hint(seekText(seconds)),
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
    if (this.#moveSlider(event, media) || onPlayerKey(event, this.#keyboardTarget(media))) {
      this.#showControls();
    }
  }

  /** Shows the controls for a moment, as a key does that media-chrome receives. */
  #showControls(): void {
    this.#controller.dispatchEvent(new KeyboardEvent('keyup'));
    this.#refresh();
  }

  /** Keys of the focused slider. @returns true if it was one */
  #moveSlider(event: KeyboardEvent, media: PlayerMedia): boolean {
    const slider = (event.composedPath()[0] as Element).getRootNode();
    const id = slider instanceof ShadowRoot ? slider.host.id : '';
    const steps = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 }[
      event.key
    ];
    if (event.ctrlKey || event.altKey || event.metaKey || !['seek', 'volume'].includes(id)) return false;
    if (id === 'volume' && steps !== undefined) {
      const volume = Math.min(1, Math.max(0, (media.muted ? 0 : media.volume) + steps * 0.05));
      media.volume = volume;
      media.muted = volume === 0;
    } else if (steps !== undefined) {
      const isPage = Math.abs(steps) > 1;
      const page = media.streamType === 'live' ? livePageSeconds : media.duration * pageFraction;
      media.seekBy(Math.sign(steps) * (isPage ? page : keySeconds));
    } else if (id === 'seek' && event.key === 'Home') media.seekToFraction(0);
    else if (id === 'seek' && event.key === 'End') media.seekToFraction(1);
    else return false;
    event.preventDefault();
    return true;
  }

  #keyboardTarget(media: PlayerMedia): Parameters<typeof onPlayerKey>[1] {
    return {
      media,
      texts: this.#texts,
      isReady: ['live', 'reconnecting', 'ready'].includes(media.phase),
      hint: text => this.#hint(text),
      press: id => {
        const button = this.#view.get(id);
        if (!button.hidden && !button.hasAttribute('mediapipunavailable')) button.click();
      },
      openHelp: () => void this.#openHelp(media),
    };
  }

  async #openHelp(media: PlayerMedia): Promise<void> {
    try {
      const { openKeyHelp } = await this.#loadExtras();
      if (this.#root.querySelector('dialog') !== null) return;
      openKeyHelp(this.#view.get('dialogs'), this.#texts, {
        isLive: media.streamType === 'live',
        hasTheatre: this.hasAttribute('theatre'),
        hasPlaylist: this.#playlist.urls.length > 0,
      });
    } catch {
      // The next key press tries again.
    }
  }

  async #openPlaylist(): Promise<void> {
    const media = this.#media;
    const extras = await this.#loadExtras().catch(() => undefined);
    if (extras === undefined || media === undefined) return;
    const playlist = this.#playlist;
    extras.openPlaylist(this.#view.get('dialogs'), this.#texts, {
      urls: playlist.urls,
      current: playlist.indexOf(media.details?.id),
      describe: url => playlist.describe(url, entry => media.describe(entry)),
      play: index => this.#playEntry(index, playlist),
    });
  }

  #hint(text: string): void {
    const hint = this.#view.get('hint');
    hint.textContent = text;
    hint.classList.add('is-shown');
    clearTimeout(this.#hintTimer);
    this.#hintTimer = setTimeout(() => hint.classList.remove('is-shown'), hintMs);
  }

  #onTimeUpdate(): void {
    if (performance.now() - this.#savedAtMs > minSaveMs) this.#savePosition();
  }

  #savePosition(): void {
    const media = this.#media;
    const { id, kind } = media?.details ?? {};
    if (media === undefined || id === undefined || kind !== 'video') return;
    if (!this.hasAttribute('resume') || !media.hasBegun) return;
    this.#savedAtMs = performance.now();
    savePosition(id, media.isAtEnd ? 0 : media.currentTime, media.duration);
  }

  /** Continues a video where the viewer left it. */
  #resume(): void {
    const media = this.#media!;
    const { id, kind } = media.details ?? {};
    if (id === undefined || kind !== 'video' || media.phase !== 'ready' || id === this.#resumedId) return;
    if (!(media.duration > 0 && media.availableSeconds > 0) || media.readyState === 0) return;
    this.#resumedId = id;
    const seconds = savedPosition(id, media.duration);
    if (seconds === undefined || !this.hasAttribute('resume') || this.hasAttribute('start')) return;
    media.currentTime = seconds;
    this.#toast(
      this.#texts.t('player.resumedAt', { time: formatTime(seconds) }),
      this.#texts.t('player.startOver'),
      () => {
        media.currentTime = 0;
      },
    );
  }

  #toast(text: string, action: string, onAction: () => void): void {
    const toast = this.#view.get('toast');
    const hide = () => {
      toast.hidden = true;
    };
    toast.replaceChildren(
      createElement('span', { text }),
      createButton(action, () => {
        hide();
        onAction();
      }),
    );
    toast.hidden = false;
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(hide, toastMs);
  }
}

type ChromeButton = HTMLElement & { handleClick(event: Event): void };

interface Extras {
  readonly menu: InstanceType<ExtrasModule['Menu']>;
  readonly menus: Menus;
  readonly endScreen: InstanceType<ExtrasModule['EndScreen']>;
  readonly clipCard: InstanceType<ExtrasModule['ClipCard']>;
  readonly openKeyHelp: ExtrasModule['openKeyHelp'];
  readonly openPlaylist: ExtrasModule['openPlaylist'];
}

type ExtrasModule = typeof import('./extras.ts');

/** `dl` makes the server send a file name. */
function download(address: string): void {
  const url = new URL(address, location.href);
  url.searchParams.set('dl', '1');
  saveFile(url.href, '');
}

// Another copy of this code may be on the page.
if (customElements.get('millrace-controls') === undefined)
  customElements.define('millrace-controls', MillraceControls);
