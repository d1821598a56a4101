/** `source`: the player got other media. */
const eventTypes = ['loaded', 'play', 'pause', 'timeupdate', 'error', 'end', 'seek', 'source'] as const;

export type EventType = (typeof eventTypes)[number];

export interface PlayEvent {
  readonly type: EventType;
  /** Player's clock: for the order of events and the time between them. */
  readonly clientMs: number;
  /** Estimated server time. */
  readonly atMs: number;
  /** Seconds in the media. */
  readonly position: number | undefined;
  readonly isPaused: boolean;
}

export const counterNames = [
  'impressions',
  'plays',
  'starts',
  'ends',
  'impression_ms',
  'impression_times',
  'watch_ms',
  'watches',
  'views3',
  'views5',
  'views10',
  'views30',
] as const;

export type CounterName = (typeof counterNames)[number];

/** Counts in the order of {@link counterNames}. */
export type Counts = number[];

/** One interval of viewing. Both slots are inclusive. `views`: bits of {@link viewSeconds}. */
interface ViewingInterval {
  readonly firstSlot: number;
  lastSlot: number;
  views: number;
}

export interface CollectedInterval extends Readonly<ViewingInterval> {
  /** The end to store. It is later than {@link lastSlot} where the viewer is expected to go on. */
  readonly endSlot: number;
  /** The end that is stored may have been expected too late. */
  readonly replacesEnd: boolean;
}

/** `replacesEnd`: the end that is stored may have been expected too late. */
type KeptInterval = ViewingInterval & { readonly replacesEnd?: boolean };

export interface CollectedPlayback {
  /** Counts by minute, in seconds since 1970. */
  readonly counts: ReadonlyMap<number, Counts>;
  readonly intervals: readonly CollectedInterval[];
  readonly state: PlaybackState;
}

/** Watch times that count as a view. The index is the bit in {@link ViewingInterval.views}. */
export const viewSeconds = [3, 5, 10, 30] as const;

export const slotSeconds = 10;
/** Lets a query find the intervals of a time among those that began shortly before. */
export const maxIntervalSlots = 360;

/** Survives between reports, so that nothing is counted twice. */
export interface PlaybackState {
  counted: number;
  watchedMs: number;
  lastEventMs: number;
}

/** The rest of the state, from which the next report continues. Times are those of the player's clock unless they are instants. */
export interface PlaybackProgress {
  readonly knownSinceAtMs: number;
  readonly watchedSinceKnownMs: number;
  readonly typesAtLastEvent: number;
  /** Null: from the beginning. */
  readonly sourceSinceMs: number | null;
  readonly isPlaying: boolean;
  readonly position?: number | undefined;
  readonly pendingPlay?: PressedPlay | undefined;
  readonly interval?: ViewingInterval | undefined;
}

interface PressedPlay {
  readonly clientMs: number;
  readonly position?: number | undefined;
}

const countedBits = {
  impressions: 1,
  plays: 2,
  starts: 4,
  ends: 8,
  impression_times: 16,
  watches: 32,
} as const;
const firstViewBit = 64;
/** Counted once for each source that a player gets. */
const perSourceBits = ~countedBits.impressions;

/** Longest silence of a player; longer silence means that it was asleep or gone. */
const maxSilenceMs = 30_000;
/** A viewer who returns within so many slots was not away. */
const maxGapSlots = 3;
const startThresholdSeconds = 1;
const maxImpressionTimeMs = 600_000;
/** Minutes that a playback keeps while they cannot be written. */
const maxMinutes = 30;
/** Viewing intervals that a playback keeps while they cannot be written. */
const maxIntervals = 100;
/** A player cannot watch for longer than it has been known, plus this for late reports. */
const lateReportToleranceMs = 60_000;

/**
 * One load of a player, from its first event to its last. It counts:
 * - *impression*: the player was loaded; *play*: the first press of play, again for each new source;
 * - *start*: time moved on after a play at the beginning (within the first second; anywhere in a live
 * stream);
 * - *end*: the end was reached for the first time;
 * - *impression time*: milliseconds from the press of play to the first frame by the player's clock, at most
 * ten minutes;
 * - *watch time*: how far the position moved between two reports while playing, at most the time between them
 * and nothing across seeks. Without positions, the time between them. Silence counts for at most 30 s;
 * - *view*: so many seconds of watch time, counted in the slot where the viewing interval began.
 *
 * Reports may be repeated or out of order: everything but watch time is counted once, and watch time only
 * moves forward.
 */
export class Playback {
  readonly state: PlaybackState;
  readonly #isLive: boolean;
  readonly #knownSinceAtMs: number;
  #typesAtLastEvent: number;
  #sourceSinceMs: number;
  #isPlaying: boolean;
  #position: number | undefined;
  #pendingPlay: PressedPlay | undefined;
  #interval: ViewingInterval | undefined;
  #watchedSinceKnownMs: number;
  /** Counts by minute, in seconds since 1970. */
  #counts = new Map<number, Counts>();
  /** Intervals by first slot: players that begin again and again in one slot add nothing. */
  #intervals = new Map<number, KeptInterval>();
  /** Interval whose stored end is an expectation. */
  #expected: ViewingInterval | undefined;
  #isChanged = false;

  constructor(isLive: boolean, nowMs: number, state?: PlaybackState, progress?: PlaybackProgress) {
    this.#isLive = isLive;
    this.#knownSinceAtMs = progress?.knownSinceAtMs ?? nowMs;
    this.#watchedSinceKnownMs = progress?.watchedSinceKnownMs ?? 0;
    this.#typesAtLastEvent = progress?.typesAtLastEvent ?? (state === undefined ? 0 : -1);
    this.#sourceSinceMs = progress?.sourceSinceMs ?? Number.NEGATIVE_INFINITY;
    this.#isPlaying = progress?.isPlaying ?? false;
    this.#position = progress?.position;
    this.#pendingPlay = progress?.pendingPlay;
    this.#interval = progress?.interval;
    this.#expected = this.#interval;
    this.state = state ? { ...state } : { counted: 0, watchedMs: 0, lastEventMs: Number.MIN_SAFE_INTEGER };
  }

  get isPlaying(): boolean {
    return this.#isPlaying;
  }

  get progress(): PlaybackProgress {
    return {
      knownSinceAtMs: this.#knownSinceAtMs,
      watchedSinceKnownMs: this.#watchedSinceKnownMs,
      typesAtLastEvent: this.#typesAtLastEvent,
      sourceSinceMs: Number.isFinite(this.#sourceSinceMs) ? this.#sourceSinceMs : null,
      isPlaying: this.#isPlaying,
      position: this.#position,
      pendingPlay: this.#pendingPlay,
      interval: this.#interval,
    };
  }

  get hasUpdates(): boolean {
    return this.#counts.size > 0 || this.#intervals.size > 0 || this.#isChanged;
  }

  get hasExpectedEnd(): boolean {
    return this.#expected !== undefined;
  }

  /** @param aheadSlots a player that plays is expected to go on for so long: it is collected no sooner */
  collect(aheadSlots = 0): CollectedPlayback {
    const expected = this.#expected;
    if (expected !== undefined) this.#intervals.set(expected.firstSlot, expected);
    const current = aheadSlots > 0 && this.#isPlaying ? this.#interval : undefined;
    if (current !== undefined) this.#intervals.set(current.firstSlot, current);
    this.#expected = current;
    const intervals = [...this.#intervals.values()].map(interval => ({
      ...interval,
      endSlot:
        interval === current
          ? Math.min(interval.lastSlot + aheadSlots, interval.firstSlot + maxIntervalSlots - 1)
          : interval.lastSlot,
      replacesEnd: interval === expected || interval.replacesEnd === true,
    }));
    const collected = { counts: this.#counts, intervals, state: { ...this.state } };
    this.#counts = new Map();
    this.#intervals = new Map();
    this.#isChanged = false;
    return collected;
  }

  /** Takes back what could not be stored, to be collected again. */
  putBack({ counts, intervals }: CollectedPlayback): void {
    for (const [minute, counted] of counts) {
      const own = this.#counts.get(minute);
      if (own !== undefined) for (const [index, count] of counted.entries()) own[index]! += count;
      else if (this.#counts.size < maxMinutes) this.#counts.set(minute, counted);
    }
    for (const { firstSlot, lastSlot, views, replacesEnd } of intervals) {
      const own = this.#interval?.firstSlot === firstSlot ? this.#interval : this.#intervals.get(firstSlot);
      if (own === undefined) {
        if (this.#intervals.size < maxIntervals)
          this.#intervals.set(firstSlot, { firstSlot, lastSlot, views, replacesEnd });
        continue;
      }
      own.lastSlot = Math.max(own.lastSlot, lastSlot);
      own.views |= views;
      this.#intervals.set(firstSlot, own);
      if (own === this.#interval) this.#expected = own;
    }
    this.#isChanged = true;
  }

  handle(event: PlayEvent, nowMs: number): void {
    const { state } = this;
    const { type, clientMs, atMs } = event;
    if (clientMs < this.#sourceSinceMs) return;
    if (type === 'loaded') this.#countOnce('impressions', atMs);
    const typeBit = 1 << eventTypes.indexOf(type);
    const isLater = clientMs > state.lastEventMs;
    if (!isLater && (clientMs < state.lastEventMs || (this.#typesAtLastEvent & typeBit) !== 0)) {
      if (type === 'end') this.#countOnce('ends', atMs);
      return;
    }
    const sinceMs = isLater ? clientMs - state.lastEventMs : 0;
    this.#typesAtLastEvent = isLater ? typeBit : this.#typesAtLastEvent | typeBit;
    state.lastEventMs = clientMs;
    if (type === 'source') {
      this.#changeSource(clientMs);
      return;
    }
    if (this.#isPlaying && type !== 'seek') this.#countWatchTime(event, sinceMs, nowMs);
    if (type === 'play') {
      if (this.#countOnce('plays', atMs)) this.#pendingPlay = { clientMs, position: event.position };
      this.#isPlaying = true;
      this.#ensureInterval(atMs);
    } else if (type === 'timeupdate') {
      if (!event.isPaused) this.#handleFirstFrame(event);
      this.#isPlaying = !event.isPaused;
    } else if (type === 'pause' || type === 'error' || type === 'end') {
      this.#isPlaying = false;
    }
    if (type === 'end') this.#countOnce('ends', atMs);
    this.#position = event.position;
  }

  #changeSource(clientMs: number): void {
    this.#sourceSinceMs = clientMs;
    this.#isPlaying = false;
    this.#position = undefined;
    this.#pendingPlay = undefined;
    this.#interval = undefined;
    this.state.counted &= ~perSourceBits;
    this.state.watchedMs = 0;
    this.#isChanged = true;
  }

  #countWatchTime({ position, atMs }: PlayEvent, sinceMs: number, nowMs: number): void {
    const movedMs =
      position === undefined || this.#position === undefined ? sinceMs : (position - this.#position) * 1000;
    const leftMs = nowMs - this.#knownSinceAtMs + lateReportToleranceMs - this.#watchedSinceKnownMs;
    const watchedMs = Math.round(Math.max(0, Math.min(movedMs, sinceMs, maxSilenceMs, leftMs)));
    if (watchedMs === 0) return;
    this.#watchedSinceKnownMs += watchedMs;
    this.#count('watch_ms', atMs, watchedMs);
    this.#countOnce('watches', atMs);
    const interval = this.#ensureInterval(atMs);
    const { state } = this;
    state.watchedMs += watchedMs;
    for (const [index, seconds] of viewSeconds.entries()) {
      const bit = firstViewBit << index;
      if ((state.counted & bit) !== 0 || state.watchedMs < seconds * 1000) continue;
      state.counted |= bit;
      this.#isChanged = true;
      interval.views |= 1 << index;
      this.#intervals.set(interval.firstSlot, interval);
      this.#count(`views${seconds}`, interval.firstSlot * slotSeconds * 1000, 1);
    }
  }

  #handleFirstFrame({ clientMs, atMs, position }: PlayEvent): void {
    const pressed = this.#pendingPlay;
    if (pressed === undefined) return;
    this.#pendingPlay = undefined;
    if (this.#isLive || (pressed.position ?? 0) <= startThresholdSeconds) this.#countOnce('starts', atMs);
    const passedMs = clientMs - pressed.clientMs;
    // The report comes some time after the first frame.
    const movedMs = ((position ?? 0) - (pressed.position ?? 0)) * 1000;
    const waitedMs = movedMs > 0 && movedMs <= passedMs ? passedMs - movedMs : passedMs;
    if (waitedMs <= maxImpressionTimeMs && this.#countOnce('impression_times', atMs))
      this.#count('impression_ms', atMs, Math.round(waitedMs));
  }

  #ensureInterval(atMs: number): ViewingInterval {
    const slot = Math.floor(atMs / 1000 / slotSeconds);
    let interval = this.#interval;
    if (interval !== undefined && slot <= interval.lastSlot) return interval;
    if (interval === undefined || slot - interval.lastSlot > maxGapSlots) interval = this.#intervalFrom(slot);
    else if (slot - interval.firstSlot >= maxIntervalSlots)
      interval = this.#intervalFrom(interval.lastSlot + 1);
    interval.lastSlot = Math.max(interval.lastSlot, slot);
    this.#interval = interval;
    this.#intervals.set(interval.firstSlot, interval);
    return interval;
  }

  #intervalFrom(firstSlot: number): ViewingInterval {
    const known = this.#expected?.firstSlot === firstSlot ? this.#expected : this.#intervals.get(firstSlot);
    return known ?? { firstSlot, lastSlot: firstSlot, views: 0 };
  }

  #countOnce(name: keyof typeof countedBits, atMs: number): boolean {
    if ((this.state.counted & countedBits[name]) !== 0) return false;
    this.state.counted |= countedBits[name];
    this.#isChanged = true;
    this.#count(name, atMs, 1);
    return true;
  }

  #count(name: CounterName, atMs: number, by: number): void {
    const minute = Math.floor(atMs / 60_000) * 60;
    let counts = this.#counts.get(minute);
    if (counts === undefined) {
      counts = counterNames.map(() => 0);
      this.#counts.set(minute, counts);
    }
    const index = counterNames.indexOf(name);
    counts[index] = (counts[index] ?? 0) + by;
  }
}
