import { setTimeout as sleep } from 'node:timers/promises';
import { parseMediaPlaylist } from '../../scripts/parse-media-playlist.ts';
import { FragmentReader, type Sample } from '../../src/media/cmaf/fragment-reader.ts';
import { parseInitSegment } from '../../src/media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../src/media/cmaf/movie-box.ts';
import type { MediaPlaylist } from '../../src/media/hls/media-playlist.ts';
import { parseMultivariantPlaylist, type Variant } from '../../src/media/hls/multivariant-playlist.ts';
import { waitTimeoutMs } from './deadlines.ts';
import { waitUntil } from './wait-until.ts';

/** A part or segment as it was listed, with its bytes. */
interface SeenMedia {
  readonly uri: string;
  readonly durationSeconds: number;
  readonly programDateTimeMs: number | undefined;
  readonly bytes: Promise<Buffer>;
}

interface SeenSegment extends SeenMedia {
  readonly gap: boolean;
  readonly mapUri: string;
  readonly discontinuityNumber: number;
  /** Empty when its parts were listed no more. */
  readonly partUris: readonly string[];
}

interface SeenPart extends SeenMedia {
  readonly independent: boolean;
  readonly mapUri: string;
  /** True when it does not continue what comes before it. */
  readonly startsAnew: boolean;
}

/** Dates may differ from the sum of durations by this much: both are rounded. */
const dateToleranceMs = 5;
/** Maximum faults in a row. A server that is gone refuses each at once. */
const maxFaults = 5;
const faultPauseMs = 200;

/**
 * A viewer that follows a stream with blocking reloads from its first playlist to its end, fetches everything that is listed, and
 * notes each rule of the texts that is broken.
 *
 * **Source**: draft-pantos-hls-rfc8216bis-22, 4.4 and 6.2; the rule stands in words with each check.
 */
export class StreamMonitor {
  readonly masterUrl: string;
  readonly variant: Variant;
  readonly mediaUrl: string;
  /** Every answer, oldest first. */
  readonly playlists: MediaPlaylist[] = [];
  readonly segments = new Map<number, SeenSegment>();
  readonly parts = new Map<string, SeenPart>();
  readonly inits = new Map<string, Promise<Buffer>>();
  readonly #broken: string[] = [];
  #isStopped = false;
  /** Follows no more, for this reason. */
  #over: string | undefined;
  #hinted: string | undefined;
  /** Parts were listed no more before they were seen. */
  #hasMissedParts = false;
  /** Parts behind which others were missed: they may be the last ones of their segments. */
  readonly #beforeMissed = new Set<string | undefined>();
  #running: Promise<void> = Promise.resolve();
  #asked = '';
  #askedAtMs = 0;

  private constructor(masterUrl: string, variant: Variant) {
    this.masterUrl = masterUrl;
    this.variant = variant;
    this.mediaUrl = new URL(variant.uri, masterUrl).href;
  }

  /** Waits until the stream can be played and follows it from then on. */
  static async begin(masterUrl: string, options: { timeoutMs?: number } = {}): Promise<StreamMonitor> {
    const { variants } = parseMultivariantPlaylist(await untilListed(masterUrl, options.timeoutMs));
    return StreamMonitor.#on(masterUrl, variants[0]!);
  }

  /** Monitors every rendition of the list, by its name: the folder of its playlist. */
  static async beginAll(masterUrl: string): Promise<Map<string, StreamMonitor>> {
    const { variants, media } = parseMultivariantPlaylist(await untilListed(masterUrl));
    const watches = new Map<string, StreamMonitor>();
    const hasSoundApart = media.some(({ type }) => type === 'AUDIO');
    for (const variant of variants) {
      // Uses the codecs that each playlist has.
      const codecs = hasSoundApart ? variant.codecs.split(',')[0]! : variant.codecs;
      watches.set(variant.uri.split('/').at(-2)!, StreamMonitor.#on(masterUrl, { ...variant, codecs }));
    }
    for (const { type, uri, groupId } of media) {
      if (type !== 'AUDIO') continue;
      const codecs = variants
        .find(({ audioGroup }) => audioGroup === groupId)!
        .codecs.split(',')
        .at(-1)!;
      if (uri !== undefined)
        watches.set(
          uri.split('/').at(-2)!,
          StreamMonitor.#on(masterUrl, { uri, codecs, bandwidthBitsPerSecond: 0 }),
        );
    }
    return watches;
  }

  static #on(masterUrl: string, variant: Variant): StreamMonitor {
    const watch = new StreamMonitor(masterUrl, variant);
    watch.#running = watch.#follow().then(
      reason => {
        watch.#over = reason;
      },
      error => {
        watch.#over = String(error);
        throw error;
      },
    );
    // `until` and `brokenRules` tell of it.
    watch.#running.catch(() => {});
    return watch;
  }

  get latest(): MediaPlaylist | undefined {
    return this.playlists.at(-1);
  }

  get ended(): boolean {
    return this.latest?.endList === true;
  }

  /** Number of the newest complete segment. */
  get newestMsn(): number {
    const list = this.latest;
    return list === undefined ? -1 : list.mediaSequence + list.segments.length - 1;
  }

  /** Complete segments of what was published: gaps and stills are left out. */
  get realSegments(): number {
    return [...this.segments.values()].filter(isPublished).length;
  }

  /** Numbers of gaps behind the first break. Before it there may be some: nothing stands in for a publisher until a slate was made. */
  get gapsBehindFirstBreak(): number[] {
    const inOrder = this.#inOrder();
    const first = inOrder.find(([, { gap }]) => !gap)?.[1].discontinuityNumber ?? 0;
    return inOrder
      .filter(([, { gap, discontinuityNumber }]) => gap && discontinuityNumber > first)
      .map(([msn]) => msn);
  }

  /** Waits until `condition` holds for what was seen. @throws Error at once when nothing more will be seen */
  async until(
    condition: (watch: StreamMonitor) => boolean,
    what: string,
    timeoutMs = waitTimeoutMs,
  ): Promise<void> {
    const describe = () => `${what}; ${this.#describe()}`;
    const holds = await waitUntil(
      () => {
        // Reads in this order: the last playlist comes before the end.
        const isOver = this.#over !== undefined;
        return condition(this) ? 'yes' : isOver && 'no';
      },
      { timeoutMs, what: describe },
    );
    if (holds === 'no') throw new Error(`nothing more is seen, in vain for ${describe()}`);
  }

  #describe(): string {
    const over = this.#over === undefined ? `asks ${this.#asked}` : `followed until ${this.#over}`;
    const since = Math.round(performance.now() - this.#askedAtMs);
    return [
      `${over} since ${since} ms; rules broken: ${JSON.stringify(this.#broken)}`,
      `${this.playlists.length} playlists, last: ${JSON.stringify(this.latest)?.slice(-1200)}`,
    ].join('; ');
  }

  /** Stops following. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  /** Resolves when the list has its end mark. */
  async untilEnd(timeoutMs = waitTimeoutMs): Promise<void> {
    await this.until(watch => watch.ended, 'the end of the list', timeoutMs);
    await this.#running;
  }

  /** Rules that were broken, in words; looks at all bytes too. Call it after the end or {@link stop}. */
  async brokenRules(): Promise<string[]> {
    await this.#running;
    await this.#checkMedia();
    return this.#broken;
  }

  /** Init section and every published segment that uses it, joined, for each init section in turn. */
  async joined(): Promise<Buffer[]> {
    const files: Buffer[][] = [];
    let map: string | undefined;
    for (const [, segment] of this.#inOrder()) {
      if (!isPublished(segment)) continue;
      if (segment.mapUri !== map) {
        map = segment.mapUri;
        files.push([await this.inits.get(map)!]);
      }
      files.at(-1)!.push(await segment.bytes);
    }
    return files.map(file => Buffer.concat(file));
  }

  /** Tracks of the newest init section. */
  async tracks(): Promise<TrackDescription[]> {
    return parseInitSegment(await [...this.inits.values()].at(-1)!);
  }

  /** Reads the samples of all published segments, in order. */
  async samples(kind: 'video' | 'audio'): Promise<Sample[]> {
    const found: Sample[] = [];
    for (const [, segment] of this.#inOrder()) {
      if (!isPublished(segment)) continue;
      found.push(...(await this.#samplesOf(segment, kind)));
    }
    return found;
  }

  /** First sample of each published segment. */
  async firstSamples(kind: 'video' | 'audio'): Promise<(Sample | undefined)[]> {
    const published = this.#inOrder().filter(([, segment]) => isPublished(segment));
    return Promise.all(published.map(async ([, segment]) => (await this.#samplesOf(segment, kind))[0]));
  }

  // ------------------------------------------------------------------------------------------------ following

  /** @returns the reason for its end */
  async #follow(): Promise<string> {
    let query = '';
    let faults = 0;
    while (!this.#isStopped) {
      let answer: { status: number; text: string };
      try {
        answer = await this.#ask(query);
      } catch (error) {
        faults += 1;
        if (faults >= maxFaults) return `${query} failed ${faults} times: ${describeFault(error)}`;
        await sleep(faultPauseMs);
        continue;
      }
      faults = 0;
      const { status, text } = answer;
      if (status === 503) {
        query = '';
        continue;
      }
      if (status !== 200) {
        const reason = `${query} was answered ${status}: ${text}`;
        if (status !== 404) this.#break(reason);
        return reason;
      }
      const playlist = parseMediaPlaylist(text);
      this.#checkAnswer(playlist, query);
      this.#take(playlist);
      if (playlist.endList) return 'the end of the list';
      const nextMsn = playlist.mediaSequence + playlist.segments.length;
      query = `?_HLS_msn=${nextMsn}&_HLS_part=${playlist.openParts?.parts.length ?? 0}`;
    }
    return 'it was stopped';
  }

  async #ask(query: string): Promise<{ status: number; text: string }> {
    this.#asked = query;
    this.#askedAtMs = performance.now();
    const answer = await fetch(this.mediaUrl + query);
    return { status: answer.status, text: await answer.text() };
  }

  #checkAnswer(list: MediaPlaylist, query: string): void {
    const before = this.latest;
    const directives = new URLSearchParams(query);
    const [msn, part] = [Number(directives.get('_HLS_msn') ?? -1), Number(directives.get('_HLS_part') ?? -1)];
    const newest = list.mediaSequence + list.segments.length;
    // 6.2.5.2: it never returns without what it asked for.
    const came = newest > msn || (newest === msn && (list.openParts?.parts.length ?? 0) > part);
    if (!came && !list.endList) this.#break(`${query} was answered early`);

    if (list.version !== 6) this.#break(`version ${list.version}`);
    const target = list.targetDurationSeconds;
    const partTarget = list.partTargetSeconds ?? 0;
    const control = list.serverControl;
    if (!((control?.partHoldBackSeconds ?? 0) >= 3 * partTarget - 1e-6))
      this.#break('PART-HOLD-BACK below 3 PART-TARGET');
    if (!((control?.holdBackSeconds ?? 0) >= 3 * target)) this.#break('HOLD-BACK below 3 TARGETDURATION');
    if (!((control?.canSkipUntilSeconds ?? 0) >= 6 * target))
      this.#break('CAN-SKIP-UNTIL below 6 TARGETDURATION');
    for (const segment of list.segments) {
      if (Math.round(segment.durationSeconds) > target)
        this.#break(`EXTINF ${segment.durationSeconds} over ${target}`);
    }
    const hints = list.preloadHints.filter(({ type }) => type === 'PART');
    const endsInStill = list.openParts === undefined && !isPublished(list.segments.at(-1)!);
    const expectedHints = list.endList || endsInStill ? 0 : 1;
    if (hints.length !== expectedHints) this.#break(`${hints.length} part hints`);
    if (before === undefined) return;
    if (before.targetDurationSeconds !== target) this.#break('TARGETDURATION changed');
    if (before.partTargetSeconds !== list.partTargetSeconds) this.#break('PART-TARGET changed');
    if (JSON.stringify(before.serverControl) !== JSON.stringify(control))
      this.#break('SERVER-CONTROL changed');
    if (list.mediaSequence < before.mediaSequence) this.#break('MEDIA-SEQUENCE went back');
    if (list.discontinuitySequence < before.discontinuitySequence)
      this.#break('DISCONTINUITY-SEQUENCE went back');
    if (newest < before.mediaSequence + before.segments.length) this.#break('the newest segment went back');
  }

  #take(list: MediaPlaylist): void {
    const listed = list.segments.reduce((sum, segment) => sum + segment.durationSeconds, 0);
    const first = this.playlists[0] ?? list;
    if (list.mediaSequence > first.mediaSequence && listed < 3 * list.targetDurationSeconds - 0.01) {
      this.#break(`removal left ${listed} s`);
    }
    this.playlists.push(list);
    let map = '';
    let discontinuityNumber = list.discontinuitySequence;
    for (const [index, segment] of list.segments.entries()) {
      map = segment.map?.uri ?? map;
      if (segment.discontinuity) discontinuityNumber += 1;
      const msn = list.mediaSequence + index;
      if (map === '') this.#break(`segment ${msn} has no MAP`);
      this.#takeInit(map);
      const known = this.segments.get(msn);
      if (known === undefined) this.#noticeMissedParts(list, index);
      this.#takeParts(segment.parts, map, segment.discontinuity === true);
      if (known === undefined) {
        const { uri, durationSeconds, programDateTimeMs, gap = false } = segment;
        const bytes = gap ? Promise.resolve(Buffer.alloc(0)) : this.#fetch(uri);
        const partUris = segment.parts.map(part => part.uri);
        this.segments.set(msn, {
          uri,
          durationSeconds,
          programDateTimeMs,
          gap,
          mapUri: map,
          discontinuityNumber,
          bytes,
          partUris,
        });
        if (programDateTimeMs === undefined) this.#break(`segment ${msn} has no date`);
        else this.#checkDate(programDateTimeMs, list, index);
        continue;
      }
      const isSame =
        known.uri === segment.uri &&
        known.durationSeconds === segment.durationSeconds &&
        known.programDateTimeMs === segment.programDateTimeMs &&
        known.discontinuityNumber === discontinuityNumber &&
        known.mapUri === map;
      if (!isSame) this.#break(`segment ${msn} changed`);
    }
    const open = list.openParts;
    if (open !== undefined) this.#takeParts(open.parts, open.map?.uri ?? map, open.discontinuity === true);
    this.#hinted = list.preloadHints.find(({ type }) => type === 'PART')?.uri;
  }

  #checkDate(programDateTimeMs: number, list: MediaPlaylist, index: number): void {
    const segment = list.segments[index]!;
    const before = list.segments[index - 1];
    const endMs = (before?.programDateTimeMs ?? 0) + (before?.durationSeconds ?? 0) * 1000;
    const setBackMs = endMs - programDateTimeMs;
    // A list ends with a still that begins where the newest frame ends.
    if (!isPublished(segment) && Math.abs(setBackMs) < 2) return;
    const futureMs = programDateTimeMs - Date.now();
    // A publisher far ahead of time is set back by less than a second at a time (6.2.1).
    if (futureMs > 50 && setBackMs < 900) this.#break(`${segment.uri} is dated ${futureMs} ms in the future`);
    if (setBackMs < 1000 || segment.discontinuity === true) return;
    this.#break(`${segment.uri} is dated ${setBackMs} ms before the end of the one before`);
  }

  /** A viewer that was slow finds only the segment of parts that are more than three target durations old (4.4.4.9). */
  #noticeMissedParts(list: MediaPlaylist, index: number): void {
    const segment = list.segments[index]!;
    if (segment.gap || segment.parts.length > 0) return;
    if (!isPublished(segment)) {
      this.#hinted = undefined;
      this.#hasMissedParts = true;
      return;
    }
    const behind = [...list.segments.slice(index + 1), ...(list.openParts?.parts ?? [])];
    const behindSeconds = behind.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
    if (behindSeconds < 3 * list.targetDurationSeconds) return;
    this.#hinted = undefined;
    this.#hasMissedParts = true;
    this.#beforeMissed.add([...this.parts.keys()].at(-1));
  }

  #takeParts(
    parts: MediaPlaylist['segments'][number]['parts'],
    mapUri: string,
    isDiscontinuity: boolean,
  ): void {
    this.#takeInit(mapUri);
    for (const [index, part] of parts.entries()) {
      const { uri, durationSeconds, independent = false } = part;
      const known = this.parts.get(uri);
      if (known !== undefined) {
        if (known.durationSeconds !== durationSeconds || known.independent !== independent)
          this.#break(`${uri} changed`);
        continue;
      }
      if (part.gap) continue;
      // The hint may lag by more than one part when several came at once: only the first new one must be the hinted one.
      if (this.#hinted !== undefined && uri !== this.#hinted)
        this.#break(`${this.#hinted} was hinted, ${uri} came`);
      this.#hinted = undefined;
      const startsAnew = (isDiscontinuity && index === 0) || this.#hasMissedParts;
      this.#hasMissedParts = false;
      const bytes = this.#fetch(uri, 2000 * (this.latest?.targetDurationSeconds ?? 0));
      this.parts.set(uri, {
        uri,
        durationSeconds,
        independent,
        mapUri,
        startsAnew,
        programDateTimeMs: undefined,
        bytes,
      });
    }
  }

  #takeInit(uri: string): void {
    if (!this.inits.has(uri)) this.inits.set(uri, this.#fetch(uri));
  }

  /** @param keptMs after this long, what is gone is empty, and breaks no rule */
  async #fetch(uri: string, keptMs = Number.POSITIVE_INFINITY): Promise<Buffer> {
    const startedMs = performance.now();
    try {
      const answer = await fetch(new URL(uri, this.mediaUrl));
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (answer.status === 200) return bytes;
      if (answer.status === 404 && performance.now() - startedMs > keptMs) return Buffer.alloc(0);
      this.#break(`${uri} was answered ${answer.status}: ${bytes.toString().slice(0, 200)}`);
      return Buffer.alloc(0);
    } catch (error) {
      this.#break(`${uri}: ${describeFault(error)}`);
      return Buffer.alloc(0);
    }
  }

  // ------------------------------------------------------------------------------------------------ afterwards

  async #checkMedia(): Promise<void> {
    const codecs = new Set((await this.#allTracks()).map(({ codec }) => codec));
    const named = this.variant.codecs.split(',');
    // Checks one set of tracks: media after a change belongs to another list.
    if (this.inits.size === 1 && (named.length !== codecs.size || !named.every(codec => codecs.has(codec)))) {
      this.#break(`CODECS ${this.variant.codecs}, the media has ${[...codecs].join(',')}`);
    }
    await this.#checkParts();
    await this.#checkSegments();
  }

  async #checkParts(): Promise<void> {
    const partTarget = this.latest?.partTargetSeconds ?? 0;
    const lastOfSegment = new Set(
      this.playlists.flatMap(list => list.segments.map(segment => segment.parts.at(-1)?.uri)),
    );
    const ends = new Map<number, number>();
    for (const part of this.parts.values()) {
      const { uri, durationSeconds, independent } = part;
      if (durationSeconds > partTarget + 1e-6)
        this.#break(`${uri} lasts ${durationSeconds}, PART-TARGET ${partTarget}`);
      if (
        durationSeconds < 0.85 * partTarget - 1e-6 &&
        !independent &&
        !lastOfSegment.has(uri) &&
        !this.#beforeMissed.has(uri) &&
        uri !== [...this.parts.keys()].at(-1)
      ) {
        this.#break(`${uri} lasts ${durationSeconds}, less than 85 % of ${partTarget}`);
      }
      const tracks = parseInitSegment(await this.inits.get(part.mapUri)!);
      const bytes = await part.bytes;
      if (bytes.length === 0) {
        ends.clear();
        continue;
      }
      const samples = readFragments(await this.inits.get(part.mapUri)!, bytes);
      const video = tracks.find(({ kind }) => kind === 'video');
      const hasKeyframe = samples.some(({ trackId, isSync }) => trackId === video?.id && isSync);
      if (independent !== (video === undefined || hasKeyframe))
        this.#break(`${uri}: INDEPENDENT is ${independent}`);
      if (part.startsAnew) ends.clear();
      for (const sample of samples) {
        const end = ends.get(sample.trackId);
        // RTMP rounds times to a millisecond; a tick may be lost where a timescale is no multiple of 1000.
        if (end !== undefined && Math.abs(sample.dtsTicks - end) > 2) {
          this.#break(`${uri}: track ${sample.trackId} goes on at ${sample.dtsTicks}, not at ${end}`);
        }
        ends.set(sample.trackId, sample.dtsTicks + sample.durationTicks);
      }
    }
  }

  async #checkSegments(): Promise<void> {
    let former: SeenSegment | undefined;
    for (const [msn, segment] of this.#inOrder()) {
      if (former !== undefined && former.discontinuityNumber === segment.discontinuityNumber) {
        // A publisher faster than time, as one is that was held up, is dated anew.
        const early = former.programDateTimeMs! - segment.programDateTimeMs!;
        if (early > 0) this.#break(`segment ${msn} is dated ${early} ms before the one before`);
      }
      former = segment;
      if (segment.gap) continue;
      const parts = segment.partUris.map(uri => this.parts.get(uri)).filter(part => part !== undefined);
      const bodies = await Promise.all(parts.map(({ bytes }) => bytes));
      const hasAll = parts.length === segment.partUris.length && bodies.every(({ length }) => length > 0);
      if (parts.length > 0 && hasAll) {
        const joined = Buffer.concat(bodies);
        if (!joined.equals(await segment.bytes)) this.#break(`segment ${msn} is not its parts`);
        const sum = parts.reduce((total, part) => total + part.durationSeconds, 0);
        if (Math.abs(sum - segment.durationSeconds) > dateToleranceMs / 1000) {
          this.#break(`the parts of segment ${msn} add up to ${sum}, EXTINF is ${segment.durationSeconds}`);
        }
      }
      const first = (await this.#samplesOf(segment, 'video'))[0];
      const claims = this.playlists.every(list => list.independentSegments);
      if (claims && first !== undefined && !first.isSync)
        this.#break(`segment ${msn} starts without a keyframe`);
    }
  }

  async #samplesOf(segment: SeenSegment, kind: 'video' | 'audio'): Promise<Sample[]> {
    const init = await this.inits.get(segment.mapUri)!;
    const track = parseInitSegment(init).find(description => description.kind === kind);
    return readFragments(init, await segment.bytes).filter(({ trackId }) => trackId === track?.id);
  }

  async #allTracks(): Promise<TrackDescription[]> {
    const all = await Promise.all(this.inits.values());
    return all.flatMap(init => parseInitSegment(init));
  }

  #inOrder(): [number, SeenSegment][] {
    return [...this.segments].toSorted(([a], [b]) => a - b);
  }

  #break(rule: string): void {
    if (!this.#broken.includes(rule)) this.#broken.push(rule);
  }
}

function untilListed(masterUrl: string, timeoutMs = waitTimeoutMs): Promise<string> {
  return waitUntil(
    async () => {
      const answer = await fetch(masterUrl);
      const body = await answer.text();
      return answer.status === 200 ? body : undefined;
    },
    { timeoutMs, everyMs: 50, what: masterUrl },
  );
}

function describeFault(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? String(error) : `${String(error)} (${String(cause)})`;
}

function readFragments(init: Buffer, bytes: Buffer): Sample[] {
  const samples: Sample[] = [];
  const reader = new FragmentReader({ onInit: () => {}, onSample: sample => void samples.push(sample) });
  reader.push(init);
  reader.push(bytes);
  return samples;
}

/** Tells segments that hold media of the publisher from gaps and stills. */
export function isPublished({ gap, uri }: { readonly gap?: boolean; readonly uri: string }): boolean {
  return gap !== true && !/(^|\/)(still|stopped)-\d/.test(uri);
}

/** Tells whether a viewer that waits for one segment after another gets a list with an end. */
export async function isToldOfTheEnd(mediaUrl: string, msn: number): Promise<boolean> {
  const answer = await fetch(`${mediaUrl}?_HLS_msn=${msn}`);
  const text = await answer.text();
  if (answer.status !== 200) return false;
  const list = parseMediaPlaylist(text);
  return list.endList || isToldOfTheEnd(mediaUrl, list.mediaSequence + list.segments.length);
}
