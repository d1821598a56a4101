/** What players report. `source`: the player was given other media. */
export const eventTypes = [
  'loaded',
  'play',
  'pause',
  'timeupdate',
  'error',
  'end',
  'seek',
  'source',
] as const;

/** One of {@link eventTypes}. */
export type EventType = (typeof eventTypes)[number];

/** Something that happened in a player. */
export interface PlayEvent {
  readonly type: EventType;
  /** By the player's clock, in milliseconds: says what came before what, and how much time was between. */
  readonly clientMs: number;
  /** When it happened by the server's clock, as far as can be told. */
  readonly atMs: number;
  /** Where in the media it was, in seconds; undefined where the player did not say. */
  readonly position: number | undefined;
  readonly isPaused: boolean;
}

/** What is counted; the order is that of {@link Counts}. */
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

/** Name of a count. */
export type CounterName = (typeof counterNames)[number];

/** One number for each of {@link counterNames}, in their order. */
export type Counts = number[];

/** A stretch of time in which a viewer was there. `begins`, `ends`: both included, in tens of seconds since 1970; `views`: bits of {@link viewSeconds}. */
export interface ViewingInterval {
  readonly firstSlot: number;
  lastSlot: number;
  views: number;
}

/** What a playback must have been watched for to be a view, in seconds; the bit of a stay is the place in here. */
export const viewSeconds = [3, 5, 10, 30] as const;

/** Seconds in which viewers are counted together. */
export const slotSeconds = 10;
/** A stay has no more slots, so that those of a time are found among the ones that began shortly before. */
export const maxIntervalSlots = 360;

/** What must not be forgotten of a playback, so that nothing is counted twice. */
export interface PlaybackState {
  /** Bits of what was counted. */
  counted: number;
  watchedMs: number;
  lastEventMs: number;
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
/** Counted once for each media that a player is given. */
const perSourceBits = ~countedBits.impressions;

/** A player that says nothing for longer was asleep or gone: what lies between was not watched. */
const maxSilenceMs = 30_000;
/** A viewer who comes back within so many slots has not been away. */
const maxGapSlots = 3;
const startThresholdSeconds = 1;
const maxImpressionTimeMs = 600_000;
/** Reports come late, but a player cannot watch for longer than it is known, give or take. */
const lateReportToleranceMs = 60_000;

/**
 * One load of a player, from its first event to its last, and what follows from them:
 *
 * - *impression*: the player was loaded; *play*: the first time that play was pressed, once more after other media came in;
 * - *start*: after a play at the beginning (within the first second; anywhere in a live stream), time went on;
 * - *end*: the end was reached, for the first time;
 * - *impression time*: from the press of play to the first picture, in milliseconds of the player's clock, at most ten minutes;
 * - *watch time*: how far the position went on between two reports while playing, never more than the time that passed between
 *   them, and nothing across seeks. Without positions, the time that passed; silence counts for at most 30 s;
 * - *view*: so many seconds of watch time, counted where the stay began.
 *
 * Reports may come again or in the wrong order: everything but watch time is counted once, and watch time only goes forward.
 */
export class Playback {
  readonly state: PlaybackState;
  readonly #isLive: boolean;
  readonly #knownSinceMs: number;
  #typesAtLastEvent: number;
  #sourceSinceMs = Number.NEGATIVE_INFINITY;
  #isPlaying = false;
  #position: number | undefined;
  #pendingPlay: { readonly clientMs: number; readonly position: number | undefined } | undefined;
  #interval: ViewingInterval | undefined;
  #watchedSinceKnownMs = 0;
  /** By minute, in seconds since 1970. */
  #counts = new Map<number, Counts>();
  #intervals = new Set<ViewingInterval>();
  #isChanged = false;

  /** `memory`: what is known of it from before; `nowMs`: server's clock. */
  constructor(isLive: boolean, nowMs: number, memory?: PlaybackState) {
    this.#isLive = isLive;
    this.#knownSinceMs = nowMs;
    // What was there at the last moment that is remembered is not known any more.
    this.#typesAtLastEvent = memory === undefined ? 0 : -1;
    this.state = memory ?? { counted: 0, watchedMs: 0, lastEventMs: Number.MIN_SAFE_INTEGER };
  }

  /** Whether the last that was heard of it is that it plays. */
  get isPlaying(): boolean {
    return this.#isPlaying;
  }

  /** Whether there is something to {@link collect}. */
  get hasUpdates(): boolean {
    return this.#counts.size > 0 || this.#intervals.size > 0 || this.#isChanged;
  }

  /** What came of it since the last time, and what must be remembered with that. */
  collect(): {
    counts: ReadonlyMap<number, Counts>;
    stays: readonly ViewingInterval[];
    memory: PlaybackState;
  } {
    const facts = { counts: this.#counts, stays: [...this.#intervals], memory: { ...this.state } };
    this.#counts = new Map();
    this.#intervals = new Set();
    this.#isChanged = false;
    return facts;
  }

  /** Takes in one event. `nowMs`: server's clock. */
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
    const leftMs = nowMs - this.#knownSinceMs + lateReportToleranceMs - this.#watchedSinceKnownMs;
    const watchedMs = Math.round(Math.max(0, Math.min(movedMs, sinceMs, maxSilenceMs, leftMs)));
    if (watchedMs === 0) return;
    this.#watchedSinceKnownMs += watchedMs;
    this.#count('watch_ms', atMs, watchedMs);
    this.#countOnce('watches', atMs);
    const stay = this.#ensureInterval(atMs);
    const { state } = this;
    state.watchedMs += watchedMs;
    for (const [index, seconds] of viewSeconds.entries()) {
      const bit = firstViewBit << index;
      if ((state.counted & bit) !== 0 || state.watchedMs < seconds * 1000) continue;
      state.counted |= bit;
      this.#isChanged = true;
      stay.views |= 1 << index;
      this.#intervals.add(stay);
      this.#count(`views${seconds}`, stay.firstSlot * slotSeconds * 1000, 1);
    }
  }

  /** The first picture after a play, and whether the media began with it. */
  #handleFirstFrame({ clientMs, atMs, position }: PlayEvent): void {
    const pressed = this.#pendingPlay;
    if (pressed === undefined) return;
    this.#pendingPlay = undefined;
    if (this.#isLive || (pressed.position ?? 0) <= startThresholdSeconds) this.#countOnce('starts', atMs);
    const passedMs = clientMs - pressed.clientMs;
    // The report comes when the picture has moved for a while already.
    const movedMs = ((position ?? 0) - (pressed.position ?? 0)) * 1000;
    const waitedMs = movedMs > 0 && movedMs <= passedMs ? passedMs - movedMs : passedMs;
    if (waitedMs <= maxImpressionTimeMs && this.#countOnce('impression_times', atMs))
      this.#count('impression_ms', atMs, Math.round(waitedMs));
  }

  #ensureInterval(atMs: number): ViewingInterval {
    const slot = Math.floor(atMs / 1000 / slotSeconds);
    let stay = this.#interval;
    if (stay !== undefined && slot <= stay.lastSlot) return stay;
    if (stay === undefined || slot - stay.lastSlot > maxGapSlots)
      stay = { firstSlot: slot, lastSlot: slot, views: 0 };
    else if (slot - stay.firstSlot >= maxIntervalSlots)
      stay = { firstSlot: stay.lastSlot + 1, lastSlot: slot, views: 0 };
    else stay.lastSlot = slot;
    this.#interval = stay;
    this.#intervals.add(stay);
    return stay;
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
