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
export interface Stay {
  readonly begins: number;
  ends: number;
  views: number;
}

/** What a playback must have been watched for to be a view, in seconds; the bit of a stay is the place in here. */
export const viewSeconds = [3, 5, 10, 30] as const;

/** Seconds in which viewers are counted together. */
export const slotSeconds = 10;
/** A stay has no more slots, so that those of a time are found among the ones that began shortly before. */
export const staySlotsAtMost = 360;

/** What must not be forgotten of a playback, so that nothing is counted twice. */
export interface PlaybackMemory {
  /** Bits of what was counted. */
  seen: number;
  watchedMs: number;
  lastEventMs: number;
}

const seenBits = { impressions: 1, plays: 2, starts: 4, ends: 8, impression_times: 16, watches: 32 } as const;
const firstViewBit = 64;
/** Counted once for each media that a player is given. */
const bitsOfSource = ~seenBits.impressions;

/** A player that says nothing for longer was asleep or gone: what lies between was not watched. */
const silenceAtMostMs = 30_000;
/** A viewer who comes back within so many slots has not been away. */
const absenceSlots = 3;
const beginningSeconds = 1;
const impressionTimeAtMostMs = 600_000;
/** Reports come late, but a player cannot watch for longer than it is known, give or take. */
const lateMs = 60_000;

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
  readonly memory: PlaybackMemory;
  readonly #isLive: boolean;
  readonly #knownSinceMs: number;
  #typesAtLast: number;
  #sourceSinceMs = Number.NEGATIVE_INFINITY;
  #isPlaying = false;
  #position: number | undefined;
  #pressed: { readonly clientMs: number; readonly position: number | undefined } | undefined;
  #stay: Stay | undefined;
  #watchedHereMs = 0;
  /** By minute, in seconds since 1970. */
  #counts = new Map<number, Counts>();
  #stays = new Set<Stay>();
  #isChanged = false;

  /** `memory`: what is known of it from before; `nowMs`: server's clock. */
  constructor(isLive: boolean, nowMs: number, memory?: PlaybackMemory) {
    this.#isLive = isLive;
    this.#knownSinceMs = nowMs;
    // What was there at the last moment that is remembered is not known any more.
    this.#typesAtLast = memory === undefined ? 0 : -1;
    this.memory = memory ?? { seen: 0, watchedMs: 0, lastEventMs: Number.MIN_SAFE_INTEGER };
  }

  /** Whether the last that was heard of it is that it plays. */
  get isPlaying(): boolean {
    return this.#isPlaying;
  }

  /** Whether there is something to {@link collect}. */
  get hasFacts(): boolean {
    return this.#counts.size > 0 || this.#stays.size > 0 || this.#isChanged;
  }

  /** What came of it since the last time, and what must be remembered with that. */
  collect(): { counts: ReadonlyMap<number, Counts>; stays: readonly Stay[]; memory: PlaybackMemory } {
    const facts = { counts: this.#counts, stays: [...this.#stays], memory: { ...this.memory } };
    this.#counts = new Map();
    this.#stays = new Set();
    this.#isChanged = false;
    return facts;
  }

  /** Takes in one event. `nowMs`: server's clock. */
  take(event: PlayEvent, nowMs: number): void {
    const { memory } = this;
    const { type, clientMs, atMs } = event;
    if (clientMs < this.#sourceSinceMs) return;
    if (type === 'loaded') this.#once('impressions', atMs);
    const typeBit = 1 << eventTypes.indexOf(type);
    const isLater = clientMs > memory.lastEventMs;
    if (!isLater && (clientMs < memory.lastEventMs || (this.#typesAtLast & typeBit) !== 0)) {
      if (type === 'end') this.#once('ends', atMs);
      return;
    }
    const sinceMs = isLater ? clientMs - memory.lastEventMs : 0;
    this.#typesAtLast = isLater ? typeBit : this.#typesAtLast | typeBit;
    memory.lastEventMs = clientMs;
    if (type === 'source') {
      this.#changeSource(clientMs);
      return;
    }
    if (this.#isPlaying && type !== 'seek') this.#watch(event, sinceMs, nowMs);
    if (type === 'play') {
      if (this.#once('plays', atMs)) this.#pressed = { clientMs, position: event.position };
      this.#isPlaying = true;
      this.#beThere(atMs);
    } else if (type === 'timeupdate') {
      if (!event.isPaused) this.#showPicture(event);
      this.#isPlaying = !event.isPaused;
    } else if (type === 'pause' || type === 'error' || type === 'end') {
      this.#isPlaying = false;
    }
    if (type === 'end') this.#once('ends', atMs);
    this.#position = event.position;
  }

  #changeSource(clientMs: number): void {
    this.#sourceSinceMs = clientMs;
    this.#isPlaying = false;
    this.#position = undefined;
    this.#pressed = undefined;
    this.#stay = undefined;
    this.memory.seen &= ~bitsOfSource;
    this.memory.watchedMs = 0;
    this.#isChanged = true;
  }

  #watch({ position, atMs }: PlayEvent, sinceMs: number, nowMs: number): void {
    const movedMs =
      position === undefined || this.#position === undefined ? sinceMs : (position - this.#position) * 1000;
    const leftMs = nowMs - this.#knownSinceMs + lateMs - this.#watchedHereMs;
    const watchedMs = Math.round(Math.max(0, Math.min(movedMs, sinceMs, silenceAtMostMs, leftMs)));
    if (watchedMs === 0) return;
    this.#watchedHereMs += watchedMs;
    this.#count('watch_ms', atMs, watchedMs);
    this.#once('watches', atMs);
    const stay = this.#beThere(atMs);
    const { memory } = this;
    memory.watchedMs += watchedMs;
    for (const [index, seconds] of viewSeconds.entries()) {
      const bit = firstViewBit << index;
      if ((memory.seen & bit) !== 0 || memory.watchedMs < seconds * 1000) continue;
      memory.seen |= bit;
      this.#isChanged = true;
      stay.views |= 1 << index;
      this.#stays.add(stay);
      this.#count(`views${seconds}`, stay.begins * slotSeconds * 1000, 1);
    }
  }

  /** The first picture after a play, and whether the media began with it. */
  #showPicture({ clientMs, atMs, position }: PlayEvent): void {
    const pressed = this.#pressed;
    if (pressed === undefined) return;
    this.#pressed = undefined;
    if (this.#isLive || (pressed.position ?? 0) <= beginningSeconds) this.#once('starts', atMs);
    const passedMs = clientMs - pressed.clientMs;
    // The report comes when the picture has moved for a while already.
    const movedMs = ((position ?? 0) - (pressed.position ?? 0)) * 1000;
    const waitedMs = movedMs > 0 && movedMs <= passedMs ? passedMs - movedMs : passedMs;
    if (waitedMs <= impressionTimeAtMostMs && this.#once('impression_times', atMs))
      this.#count('impression_ms', atMs, Math.round(waitedMs));
  }

  #beThere(atMs: number): Stay {
    const slot = Math.floor(atMs / 1000 / slotSeconds);
    let stay = this.#stay;
    if (stay !== undefined && slot <= stay.ends) return stay;
    if (stay === undefined || slot - stay.ends > absenceSlots) stay = { begins: slot, ends: slot, views: 0 };
    else if (slot - stay.begins >= staySlotsAtMost) stay = { begins: stay.ends + 1, ends: slot, views: 0 };
    else stay.ends = slot;
    this.#stay = stay;
    this.#stays.add(stay);
    return stay;
  }

  #once(name: keyof typeof seenBits, atMs: number): boolean {
    if ((this.memory.seen & seenBits[name]) !== 0) return false;
    this.memory.seen |= seenBits[name];
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
