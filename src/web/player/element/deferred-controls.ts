import type { PlayerTexts } from '../../i18n/player.ts';
import type { MillraceControls } from '../controls/millrace-controls.ts';
import type { MillraceVideo } from './millrace-video.ts';
import { changeEvent } from './player-media.ts';

/** Longest time from the engine to the first frame. */
const maxWaitMs = 3000;
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

  preload(): void {
    this.load().catch(() => {});
  }

  load(): Promise<MillraceControls> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async #load(): Promise<MillraceControls> {
    try {
      await import('../controls/millrace-controls.ts');
    } catch (error) {
      // Playback goes on, and the next wish of the viewer tries again.
      this.#loading = undefined;
      this.element.classList.remove('is-opening');
      this.#media.nativeEl.controls = !this.element.hasAttribute('hide-controls');
      throw error;
    }
    const { element } = this;
    customElements.upgrade(element);
    this.#media.nativeEl.controls = false;
    this.disconnect();
    if (this.#texts !== undefined) element.texts = this.#texts;
    for (const key of this.#keys.splice(0)) this.#media.dispatchEvent(new KeyboardEvent(key.type, key));
    return element;
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
    if (this.#keys.length < maxKeys && !event.defaultPrevented) this.#keys.push(event);
    this.preload();
  }
}

/** A live stream that begins by itself shows nothing but its first frame. */
function startsAlone(media: MillraceVideo): boolean {
  const { streamType, wantsToPlay, hasBegun, isReachable, isSourceStalled, phase, videoWidth } = media;
  const isStarting = wantsToPlay && startPhases.includes(phase) && !(hasBegun && videoWidth === 0);
  return streamType === 'live' && isStarting && isReachable && !isSourceStalled;
}
