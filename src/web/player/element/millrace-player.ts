import { loadPlayerTexts } from '../../i18n/player.ts';
import type { MillraceControls } from '../controls/millrace-controls.ts';
import type { MillracePlayerElement } from '../package/index.d.ts';
import type { AddressOptions } from '../page-options.ts';
import { DeferredControls } from './deferred-controls.ts';
import { endMediaSession, showMediaSession } from './media-session.ts';
import './millrace-video.ts';
import type { MillraceVideo } from './millrace-video.ts';
import { parsePlayerAddress } from './player-address.ts';
import { controlsNames, optionNames, repeatedEvents, textNames } from './player-attributes.ts';
import { changeEvent, type PlayerMedia } from './player-media.ts';

/** `!important` rules of a shadow root win over those of the page, so that no style of the page can break the player. */
const styles = `
:host { display: block !important; position: relative; overflow: hidden; contain: layout style; }
:host([hidden]) { display: none !important; }
#frame { all: initial; display: block; width: 100%; height: 100%; aspect-ratio: 16 / 9; overflow: hidden; background: #000; }
millrace-controls { display: block; position: relative; width: 100%; height: 100%; }
millrace-controls:not(:defined) > millrace-video { position: absolute; inset: 0; width: 100%; height: 100%; }
millrace-controls.is-opening:not(:defined)::after {
  content: ''; position: absolute; inset: 0; box-sizing: border-box; width: 48px; height: 48px; margin: auto;
  border: 3px solid rgb(255 255 255 / 0.22); border-top-color: #fff; border-radius: 50%;
  animation: turn 900ms linear infinite, hide 500ms;
}
@keyframes turn { to { transform: rotate(1turn); } }
@keyframes hide { from, to { visibility: hidden; } }
@media (prefers-reduced-motion: reduce) {
  millrace-controls.is-opening:not(:defined)::after { animation-duration: 2.4s, 500ms; }
}
`;

let styleSheet: CSSStyleSheet | undefined;

/** `<millrace-player src="https://video.example.com/live/li…">`: plays a live stream or a video of a Millrace server. */
export class MillracePlayer extends HTMLElement implements MillracePlayerElement {
  static readonly observedAttributes: readonly string[] = [...textNames, ...optionNames, ...controlsNames];

  readonly #frame = document.createElement('div');
  #controls: DeferredControls | undefined;
  #media: MillraceVideo | undefined;
  #language: string | null | undefined;
  #shownUrl: string | undefined;
  /** Entry of the list that a viewer chose. The page has set another address. */
  #chosenUrl: string | undefined;
  /** Server of the address that the page has set, and of ids in its list. */
  #server = '';

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    if (styleSheet === undefined) {
      styleSheet = new CSSStyleSheet();
      styleSheet.replaceSync(styles);
    }
    root.adoptedStyleSheets = [styleSheet];
    this.#frame.id = 'frame';
    root.append(this.#frame);
    // A pointer that was there before this code does not enter.
    for (const event of ['pointerenter', 'pointermove'])
      this.addEventListener(event, () => this.#media?.prepareStoryboard());
    root.addEventListener('millracesource', event => this.#playOther(event));
  }

  /** The media: the surface of a video element, with what the server tells about it. */
  get media(): PlayerMedia {
    return this.#ensureMedia() as unknown as PlayerMedia;
  }

  /** Loads the controls if they are not there yet. Rejects if their code cannot be loaded. */
  loadControls(): Promise<MillraceControls> {
    this.#ensureMedia();
    return this.#controls!.load();
  }

  get src(): string {
    return this.getAttribute('src') ?? '';
  }

  set src(address: string) {
    this.setAttribute('src', address);
  }

  get playlist(): readonly string[] {
    return (this.getAttribute('playlist') ?? '').split(/\s+/).filter(entry => entry !== '');
  }

  set playlist(entries: readonly string[]) {
    this.setAttribute('playlist', entries.join(' '));
  }

  get paused(): boolean {
    return this.media.paused;
  }

  get ended(): boolean {
    return this.media.ended;
  }

  get duration(): number {
    return this.media.duration;
  }

  get currentTime(): number {
    return this.media.currentTime;
  }

  set currentTime(seconds: number) {
    this.media.currentTime = seconds;
  }

  get volume(): number {
    return this.media.volume;
  }

  set volume(volume: number) {
    this.media.volume = volume;
  }

  get muted(): boolean {
    return this.media.muted;
  }

  set muted(isMuted: boolean) {
    this.media.muted = isMuted;
  }

  get playbackRate(): number {
    return this.media.playbackRate;
  }

  set playbackRate(rate: number) {
    this.media.playbackRate = rate;
  }

  get loop(): boolean {
    return this.media.loop;
  }

  set loop(isLooping: boolean) {
    this.toggleAttribute('loop', isLooping);
  }

  play(): Promise<void> {
    return this.media.play();
  }

  pause(): void {
    this.media.pause();
  }

  connectedCallback(): void {
    this.#ensureMedia();
    this.#controls?.connect(this);
    this.#update();
  }

  /** An element that only moves in the document goes on. */
  disconnectedCallback(): void {
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#controls?.disconnect();
      this.#close();
      this.#shownUrl = undefined;
    });
  }

  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (before === value || !this.isConnected) return;
    const media = this.#media;
    if (name === 'loop' && media !== undefined) media.loop = isOn(value);
    else if (name === 'muted' && media !== undefined) media.muted = isOn(value);
    this.#update();
  }

  #ensureMedia(): MillraceVideo {
    if (this.#media !== undefined) return this.#media;
    const media = document.createElement('millrace-video') as MillraceVideo;
    media.slot = 'media';
    for (const type of repeatedEvents)
      media.addEventListener(type, event => this.dispatchEvent(new CustomEvent(event.type)));
    media.addEventListener(changeEvent, () => this.#forwardToControls());
    media.addEventListener('playing', () => showMediaSession(this.media));
    this.#controls = new DeferredControls(media);
    this.#media = media;
    this.#frame.append(this.#controls.element);
    return media;
  }

  #update(): void {
    if (this.src !== this.#chosenUrl)
      this.#server = parsePlayerAddress(this.src, document.baseURI)?.server ?? '';
    this.#forwardToControls();
    void this.#loadTexts();
    // A list begins with its first entry.
    const src = this.src || (this.#playlistUrls[0] ?? '');
    if (src === this.#shownUrl) return;
    this.#shownUrl = src;
    this.#open(src);
  }

  #open(src: string, plays = false): void {
    const media = this.#ensureMedia();
    if (src === '') {
      media.pause();
      this.#close();
    } else media.open(src, { options: this.#options(), plays, state: this.#takeState() });
  }

  #close(): void {
    this.#media?.close();
    endMediaSession(this.media);
  }

  /** Returns the state that a page of the server brings, which is that of the first address. */
  #takeState(): unknown {
    const { state } = this.dataset;
    delete this.dataset.state;
    try {
      return state && JSON.parse(state);
    } catch {
      return undefined;
    }
  }

  #playOther(event: Event): void {
    const { url } = (event as CustomEvent<{ readonly url: string }>).detail;
    this.#shownUrl = url;
    this.#chosenUrl = url;
    this.src = url;
    this.#open(url, true);
  }

  #options(): AddressOptions {
    const options = new Map<string, string>();
    for (const name of [...optionNames, ...controlsNames]) {
      const value = this.getAttribute(name);
      if (value !== null) options.set(name.replaceAll('-', ''), value);
    }
    const [start, end] = [this.getAttribute('start'), this.getAttribute('end')];
    if (start !== null || end !== null) options.set('t', `${start ?? ''},${end ?? ''}`);
    if (isOn(this.getAttribute('no-analytics'))) options.set('analytics', 'false');
    return options;
  }

  #forwardToControls(): void {
    const controls = this.#controls?.element;
    if (controls === undefined) return;
    const hiddenParts = this.#media?.hiddenParts;
    const list = this.#playlistUrls.join(' ');
    for (const name of [...controlsNames, 'playlist', 'start']) {
      const own = name === 'playlist' ? list || null : this.getAttribute(name);
      const value = own ?? (hiddenParts?.has(name) === true ? '' : null);
      if (value === null || value === 'false') controls.removeAttribute(name);
      else if (controls.getAttribute(name) !== value) controls.setAttribute(name, value);
    }
  }

  get #playlistUrls(): readonly string[] {
    const server = this.#server;
    return this.playlist.map(entry => {
      if (/^vi[0-9A-Za-z]+$/.test(entry)) return `${server}/vod/${entry}`;
      return /^li[0-9A-Za-z]+$/.test(entry) ? `${server}/live/${entry}` : entry;
    });
  }

  async #loadTexts(): Promise<void> {
    const language = this.getAttribute('lang');
    if (language === this.#language) return;
    this.#language = language;
    const texts = await loadPlayerTexts(language);
    if (language === this.#language && this.#controls !== undefined) this.#controls.texts = texts;
  }
}

function isOn(value: string | null): boolean {
  return value !== null && value !== 'false';
}

if (customElements.get('millrace-player') === undefined)
  customElements.define('millrace-player', MillracePlayer);
