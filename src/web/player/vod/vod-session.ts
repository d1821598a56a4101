import { BackOff } from '../../shared/back-off.ts';
import { type Refusal, readRefusal } from '../media/refusal.ts';
import { VodMedia, type VodMediaOptions, vodPlayableWith } from './vod-media.ts';
import { parseVodState, publicStateUrl, stateUrl, type VodState } from './vod-state.ts';

/** `processing`: cannot be played yet; `failed`: will never play; `missing`: was deleted; `refused`: this viewer may not play it. */
export type VodPhase = 'loading' | 'processing' | 'ready' | 'failed' | 'missing' | 'refused' | 'unsupported';

interface VodSessionHandlers {
  onPhase(phase: VodPhase): void;
  onState(state: VodState): void;
  onReachable(isReachable: boolean): void;
  onMediaChange(): void;
}

type Answer = VodState | 'missing' | 'refused' | 'unreachable';

const maxUnchangedAnswers = 8;
/** Applies while the source is better than the best rendition. */
const maxUnchangedAnswersIncomplete = 60;
/** The smallest size of the best rendition, relative to the source. */
const completeFraction = 0.66;

export class VodSession {
  readonly media: VodMedia;
  readonly #video: HTMLVideoElement;
  readonly #handlers: VodSessionHandlers;
  readonly #startSeconds: number;
  readonly #base: string;
  /** A private video that is made public has no address with a token, and has it again when it is made private. */
  readonly #stateUrls: readonly string[];
  readonly #waitBackOff = new BackOff(1000, 10_000);
  readonly #watchBackOff = new BackOff(3000, 60_000);
  #state: VodState;
  #phase: VodPhase = 'loading';
  #refusal: Refusal | undefined;
  #timer = 0;
  #unchangedAnswers = 0;
  #isEnded = false;

  constructor(
    state: VodState,
    video: HTMLVideoElement,
    options: VodMediaOptions & {
      readonly startSeconds: number;
      /** Begins the addresses of later states. */
      readonly base: string;
    },
    handlers: VodSessionHandlers,
  ) {
    this.#state = state;
    this.#video = video;
    this.#startSeconds = options.startSeconds;
    this.#base = options.base;
    this.#stateUrls = [stateUrl(state), publicStateUrl(state)];
    this.#handlers = handlers;
    this.media = new VodMedia(video, options, {
      onInterrupted: isGone => void this.#onInterrupted(isGone),
      onResumed: () => handlers.onReachable(true),
      onUnplayable: () => this.#setPhase('unsupported'),
      onChange: () => handlers.onMediaChange(),
    });
    for (const event of ['pause', 'ended', 'waiting'] as const) {
      video.addEventListener(event, () => this.#restartIfPending(), { signal: options.signal });
    }
  }

  get phase(): VodPhase {
    return this.#phase;
  }

  /** Defined in the phase `refused`. */
  get refusal(): Refusal | undefined {
    return this.#refusal;
  }

  get state(): VodState {
    return this.#state;
  }

  get totalSeconds(): number {
    const available = this.media.availableSeconds;
    if (available > 0 && !this.media.isGrowing) return available;
    return Math.max(available, this.#state.duration ?? 0);
  }

  start(): void {
    if (vodPlayableWith(this.#video) === undefined) this.#setPhase('unsupported');
    else this.#setState(this.#state);
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.media.stop();
  }

  #setState(state: VodState): void {
    if (this.#isEnded) return;
    const hasOtherMedia = state.revision !== this.#state.revision;
    const hasMoved = state.hls !== this.#state.hls;
    const isNews = hasOtherMedia || JSON.stringify(state) !== JSON.stringify(this.#state);
    this.#state = state;
    this.#unchangedAnswers = isNews ? 0 : this.#unchangedAnswers + 1;
    if (isNews) {
      this.#watchBackOff.reset();
      this.#handlers.onState(state);
    }
    if (state.playable) {
      const isFirst = !this.media.isLoaded;
      this.#setPhase('ready');
      if (isFirst) this.media.load(state.hls, this.#startSeconds);
      else if (hasMoved) this.media.moveTo(state.hls);
      else if (hasOtherMedia) this.media.checkForNewQualities();
      if (this.#expectsMore()) this.#scheduleCheck(this.#watchBackOff.next());
    } else {
      this.media.stop();
      this.#setPhase(state.failed ? 'failed' : 'processing');
      if (!state.failed) this.#scheduleCheck(this.#waitBackOff.next());
    }
  }

  #scheduleCheck(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#check(), ms);
  }

  async #check(): Promise<void> {
    const answer = await this.#fetchState();
    if (this.#phase !== 'ready') this.#handlers.onReachable(answer !== 'unreachable');
    if (answer === 'missing' || answer === 'refused') this.#stopIn(answer);
    else if (answer !== 'unreachable') this.#setState(answer);
    else if (!this.#isEnded)
      this.#scheduleCheck(this.#phase === 'ready' ? this.#watchBackOff.next() : this.#waitBackOff.next());
  }

  async #onInterrupted(isGone: boolean): Promise<void> {
    this.#handlers.onReachable(false);
    const answer = isGone || navigator.onLine ? await this.#fetchState() : 'unreachable';
    if (answer === 'missing' || answer === 'refused') this.#stopIn(answer);
    else if (answer !== 'unreachable' && (!answer.playable || answer.hls !== this.#state.hls))
      this.#setState(answer);
    else if (!this.#isEnded) this.media.retryLater();
  }

  #stopIn(phase: 'missing' | 'refused'): void {
    clearTimeout(this.#timer);
    this.media.stop();
    this.#setPhase(phase);
  }

  async #fetchState(): Promise<Answer> {
    let found: Answer = 'missing';
    for (const url of new Set([stateUrl(this.#state), ...this.#stateUrls])) {
      found = await this.#fetchStateAt(url);
      if (found !== 'missing') break;
    }
    return found;
  }

  async #fetchStateAt(url: string): Promise<Answer> {
    try {
      const answer = await fetch(url, { cache: 'no-store', signal: AbortSignal.timeout(8000) });
      if (answer.ok) return parseVodState(await answer.text(), this.#base);
      if (answer.status === 403) {
        this.#refusal = await readRefusal(answer);
        return 'refused';
      }
      return answer.status === 404 ? 'missing' : 'unreachable';
    } catch {
      return 'unreachable';
    }
  }

  #expectsMore(): boolean {
    if (this.media.isGrowing) return true;
    const best = this.media.qualities[0]?.height ?? 0;
    const isIncomplete = best > 0 && best < (this.#state.height ?? 0) * completeFraction;
    return this.#unchangedAnswers < (isIncomplete ? maxUnchangedAnswersIncomplete : maxUnchangedAnswers);
  }

  /** Hides the restart in a pause or a stall. */
  #restartIfPending(): void {
    if (this.#phase !== 'ready' || this.#video.seeking || this.#video.currentTime === 0) return;
    this.media.restartIfPending();
  }

  #setPhase(phase: VodPhase): void {
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.#handlers.onPhase(phase);
  }
}
