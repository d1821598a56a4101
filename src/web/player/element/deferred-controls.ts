import type { PlayerTexts } from '../../i18n/player.ts';
import { BackOff } from '../../shared/back-off.ts';
import type { MillraceControls } from '../controls/millrace-controls.ts';
import { isForPlayer } from './key-target.ts';
import type { MillraceVideo } from './millrace-video.ts';
import { changeEvent } from './player-media.ts';

/** Longest time from the engine to the first frame. */
const maxWaitMs = 3000;
/** Longest time that a player has no controls at all while their code is under way. */
const maxWithoutMs = 10_000;
const minRetryMs = 1000;
const maxRetryMs = 15_000;
const maxKeys = 20;
const startPhases: readonly string[] = ['loading', 'starting', 'live'];

/**
 * The controls around a `millrace-video`. The first frame of a live stream does not wait for their code: it is loaded when playback has
 * begun, when the viewer does something, when there is something to tell, or after {@link maxWaitMs}.
 */
export class DeferredControls {
  /** Attributes that it has are read when its code arrives. */
  readonly element = document.createElement('millrace-controls') as MillraceControls;
  readonly #media: MillraceVideo;
  #texts: PlayerTexts | undefined;
  #loading: Promise<MillraceControls> | undefined;
  readonly #backOff = new BackOff(minRetryMs, maxRetryMs);
  /** Time of `performance.now()`. */
  #retryAtMs = 0;
  #connection: AbortController | undefined;
  #timer = 0;
  /** Keys of the viewer, for controls that are under way. */
  #keys: KeyboardEvent[] = [];

  constructor(media: MillraceVideo) {
    this.#media = media;
    this.element.append(media);
    this.element.addEventListener('click', () => {
      if (!this.#hasArrived && !media.nativeEl.controls) void media.play();
    });
    // `playing` comes before the frame is shown.
    media.nativeEl.requestVideoFrameCallback?.(() => this.preload());
    // An address is opened in steps, of which the last asks for the engine.
    media.addEventListener(changeEvent, () => queueMicrotask(() => this.#onChange()));
    // Another player of the page may load them first, which makes those of all players.
    void customElements.whenDefined('millrace-controls').then(() => this.#arrive());
  }

  set texts(texts: PlayerTexts) {
    this.#texts = texts;
    if (this.#hasArrived) this.element.texts = texts;
  }

  get #hasArrived(): boolean {
    return this.element.shadowRoot !== null;
  }

  /** @param player element whose viewer the controls are for */
  connect(player: HTMLElement): void {
    if (this.#connection !== undefined || this.#hasArrived) return;
    this.#connection = new AbortController();
    const { signal } = this.#connection;
    // A pointer that rests there enters by itself.
    for (const event of ['pointermove', 'pointerdown'])
      player.addEventListener(event, () => this.preload(), { signal });
    document.addEventListener('keydown', event => this.#onKey(event, player), { signal });
  }

  disconnect(): void {
    this.#connection?.abort();
    this.#connection = undefined;
  }

  /** Code that could not be loaded is asked for again after a while: a pointer that moves must not ask with each step. */
  preload(): void {
    if (performance.now() >= this.#retryAtMs) this.load().catch(() => {});
  }

  load(): Promise<MillraceControls> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<MillraceControls> {
    const timer = setTimeout(() => this.#showBrowserControls(), maxWithoutMs);
    try {
      await import('../controls/millrace-controls.ts');
    } catch (error) {
      // Playback goes on, and the next wish of the viewer tries again.
      this.#loading = undefined;
      this.#retryAtMs = performance.now() + this.#backOff.next();
      this.#showBrowserControls();
      throw error;
    } finally {
      clearTimeout(timer);
    }
    this.#arrive();
    return this.element;
  }

  #arrive(): void {
    const { element } = this;
    customElements.upgrade(element);
    this.#media.nativeEl.controls = false;
    this.disconnect();
    if (this.#texts !== undefined) element.texts = this.#texts;
    for (const key of this.#keys.splice(0)) this.#media.dispatchEvent(new KeyboardEvent(key.type, key));
  }

  /** Keys that had no effect so far are not repeated later: the viewer has other controls meanwhile. */
  #showBrowserControls(): void {
    this.#keys = [];
    this.element.classList.remove('is-opening');
    this.#media.nativeEl.controls = !this.element.hasAttribute('hide-controls');
  }

  #onChange(): void {
    const { source, streamType, phase, hasBegun } = this.#media;
    const isClosed = source === undefined && streamType === 'unknown' && phase === 'loading';
    const isOpening = !isClosed && !hasBegun && !this.#media.nativeEl.controls;
    this.element.classList.toggle('is-opening', isOpening);
    if (!isClosed && !startsAlone(this.#media)) this.preload();
    if (source !== undefined) this.#timer ||= setTimeout(() => this.preload(), maxWaitMs);
  }

  #onKey(event: KeyboardEvent, player: HTMLElement): void {
    const isInside = event.composedPath().includes(player);
    if (!isInside && !this.element.hasAttribute('page-keyboard')) return;
    const isKept = this.#keys.length < maxKeys && isForPlayer(event);
    this.preload();
    if (isKept && this.#loading !== undefined) this.#keys.push(event);
  }
}

/** A live stream that begins by itself shows nothing but its first frame. */
function startsAlone(media: MillraceVideo): boolean {
  const { streamType, wantsToPlay, hasBegun, isReachable, isSourceStalled, phase, videoWidth } = media;
  const isStarting = wantsToPlay && startPhases.includes(phase) && !(hasBegun && videoWidth === 0);
  return streamType === 'live' && isStarting && isReachable && !isSourceStalled;
}
