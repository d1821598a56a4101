import { BackOff } from '../../shared/back-off.ts';
import { VodMedia, vodPlayableWith } from './vod-media.ts';
import { parseVodState, stateUrl, type VodState } from './vod-state.ts';

/**
 * What the viewer has before them. `loading`: the page has not looked yet; `processing`: nothing can be played yet; `ready`: it can; `failed`: nothing ever will;
 * `missing`: the video is not there (any more); `unsupported`: this browser cannot play it.
 */
export type VodPhase = 'loading' | 'processing' | 'ready' | 'failed' | 'missing' | 'unsupported';

/** Hears about a session. */
export interface VodSessionHandlers {
  onPhase(phase: VodPhase): void;
  /** What is known of the video changed: other captions, a storyboard, a theme. */
  onState(state: VodState): void;
  /** Whether the server can be reached. */
  onReachable(isReachable: boolean): void;
  /** Other qualities, or more to play. */
  onMediaChange(): void;
}

/** What asking for the state brought. */
type Answer = VodState | 'missing' | 'unreachable';

/** So often in a row nothing new of a video that could be complete, and it is no longer asked for. */
const maxUnchangedAnswers = 8;
/** The same while the source has a better picture than the best quality: encoding takes its time. */
const maxUnchangedAnswersIncomplete = 60;
/** A rung of the ladder is at most so much smaller than a source of which it is the best. */
const completeFraction = 0.66;

/** Follows one video for as long as the page is open: until it can be played, while qualities are added, and through failures. */
export class VodSession {
  readonly media: VodMedia;
  readonly #video: HTMLVideoElement;
  readonly #handlers: VodSessionHandlers;
  readonly #startSeconds: number;
  readonly #waitBackOff = new BackOff(1000, 10_000);
  readonly #watchBackOff = new BackOff(3000, 60_000);
  #state: VodState;
  #phase: VodPhase = 'loading';
  #timer = 0;
  #unchangedAnswers = 0;
  #isEnded = false;

  /** `startSeconds`: where playing begins. */
  constructor(state: VodState, video: HTMLVideoElement, startSeconds: number, handlers: VodSessionHandlers) {
    this.#state = state;
    this.#video = video;
    this.#startSeconds = startSeconds;
    this.#handlers = handlers;
    this.media = new VodMedia(video, {
      onInterrupted: isGone => void this.#onInterrupted(isGone),
      onResumed: () => handlers.onReachable(true),
      onUnplayable: () => this.#setPhase('unsupported'),
      onChange: () => handlers.onMediaChange(),
    });
    for (const event of ['pause', 'ended', 'waiting'] as const) {
      video.addEventListener(event, () => this.#restartIfPending());
    }
  }

  get phase(): VodPhase {
    return this.#phase;
  }

  get state(): VodState {
    return this.#state;
  }

  /** Seconds that the video will have when it is complete. 0 while unknown. */
  get totalSeconds(): number {
    const available = this.media.availableSeconds;
    if (available > 0 && !this.media.isGrowing) return available;
    return Math.max(available, this.#state.duration ?? 0);
  }

  /** Begins with the state that the page came with. */
  start(): void {
    if (vodPlayableWith(this.#video) === undefined) this.#setPhase('unsupported');
    else this.#setState(this.#state);
  }

  /** Stops playing and asking, for good. */
  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.media.stop();
  }

  #setState(state: VodState): void {
    if (this.#isEnded) return;
    const hasOtherMedia = state.revision !== this.#state.revision;
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
    if (answer === 'missing') this.#onMissing();
    else if (answer !== 'unreachable') this.#setState(answer);
    else if (!this.#isEnded)
      this.#scheduleCheck(this.#phase === 'ready' ? this.#watchBackOff.next() : this.#waitBackOff.next());
  }

  async #onInterrupted(isGone: boolean): Promise<void> {
    this.#handlers.onReachable(false);
    const answer = isGone || navigator.onLine ? await this.#fetchState() : 'unreachable';
    if (answer === 'missing') this.#onMissing();
    else if (answer !== 'unreachable' && !answer.playable) this.#setState(answer);
    else if (!this.#isEnded) this.media.retryLater();
  }

  #onMissing(): void {
    clearTimeout(this.#timer);
    this.media.stop();
    this.#setPhase('missing');
  }

  async #fetchState(): Promise<Answer> {
    try {
      const answer = await fetch(stateUrl(this.#state), {
        cache: 'no-store',
        signal: AbortSignal.timeout(8000),
      });
      if (answer.ok) return parseVodState(await answer.text());
      return answer.status === 404 ? 'missing' : 'unreachable';
    } catch {
      return 'unreachable';
    }
  }

  /** Whether it is worth asking for more: the video still grows, or better qualities may come. */
  #expectsMore(): boolean {
    if (this.media.isGrowing) return true;
    const best = this.media.qualities[0]?.height ?? 0;
    const isIncomplete = best > 0 && best < (this.#state.height ?? 0) * completeFraction;
    return this.#unchangedAnswers < (isIncomplete ? maxUnchangedAnswersIncomplete : maxUnchangedAnswers);
  }

  /** A pause or a stall is the moment for changes that would interrupt. */
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
