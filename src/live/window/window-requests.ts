import { parseDeliveryDirectives } from '../../media/hls/delivery-directives.ts';
import type {
  MediaResponse,
  PlaylistRefusal,
  PlaylistResponse,
  ViewerSignal,
} from '../../shared/viewer-responses.ts';
import { BlockedRequests } from './blocked-requests.ts';
import type { SegmentStore, StoredMedia } from './segment-store.ts';
import type { WindowPlaylist } from './window-playlist.ts';
import type { WindowState } from './window-state.ts';

/** draft-pantos-hls-rfc8216bis-22, 6.2.5 and 4.4.5.3. */
export class WindowRequests {
  readonly #state: WindowState;
  readonly #segments: SegmentStore;
  readonly #playlist: WindowPlaylist;
  readonly #blocked = new BlockedRequests();
  #hasLeft = false;
  /** Responses by the bytes of a part in memory: many viewers fetch it at once. */
  readonly #partResponses = new WeakMap<Buffer, MediaResponse>();

  constructor(state: WindowState, segments: SegmentStore, playlist: WindowPlaylist) {
    this.#state = state;
    this.#segments = segments;
    this.#playlist = playlist;
  }

  changed(): void {
    this.#blocked.wake(this.#state.isEnded);
  }

  /** Answers held requests: what they wait for does not come. */
  left(): void {
    this.#hasLeft = true;
    this.#blocked.wake(true);
  }

  async mediaPlaylist(
    query: URLSearchParams,
    signal: ViewerSignal,
  ): Promise<PlaylistResponse | PlaylistRefusal> {
    const state = this.#state;
    const targetMs = this.#state.targetDurationSeconds * 1000;
    if (!state.isPlayable) return { status: 404, reason: 'No segment is available yet.' };
    const directives = parseDeliveryDirectives(query);
    // A request for a segment that is gone, such as `_HLS_msn=0`, gets the first playlist without delay.
    if (directives.ok && directives.msn === undefined) {
      await this.#waitUntil(() => this.#hasHoldBack(), targetMs, signal);
    }
    if (state.isEnded) return this.#playlistResponse('no', false);
    if (!directives.ok) return { status: 400, reason: directives.reason };
    const { msn, part, skip } = directives;
    if (msn === undefined) return this.#playlistResponse(skip, false);
    if (this.#isTooFarAhead(msn, part))
      return { status: 400, reason: 'The segment or part is too far ahead.' };
    // 6.2.5.2: no request is blocked for longer than three target durations.
    // Older ones, such as `_HLS_msn=0`, stand for the whole playlist as it is now.
    const isBlockingReload = msn >= state.nextSequence - 1;
    const isReached = await this.#waitUntil(() => this.#hasReached(msn, part), 3 * targetMs, signal);
    if (!isReached) return { status: 503, reason: 'The segment or part did not arrive in time.' };
    return this.#playlistResponse(skip, isBlockingReload);
  }

  /** @param name `init-1.mp4`, `segment-12.m4s`, `still-13.m4s`, `stopped-14.m4s` or `part-345.m4s` */
  media(name: string, signal: ViewerSignal): Promise<MediaResponse | undefined> | MediaResponse | undefined {
    const [, kind = '', digits, extension] = /^([a-z]+)-(0|[1-9]\d{0,14})\.(m4s|mp4)$/.exec(name) ?? [];
    const number = Number(digits);
    if (kind === 'init') return extension === 'mp4' ? this.#init(number, name) : undefined;
    if (extension !== 'm4s') return undefined;
    if (['segment', 'still', 'stopped'].includes(kind))
      return this.#mediaResponse(this.#segments.segment(number), name);
    if (kind !== 'part') return undefined;
    const { nextPartNumber, isEnded, isPlayable, endsWithFiller } = this.#state;
    const isHinted = number === nextPartNumber && !isEnded && isPlayable && !endsWithFiller;
    return isHinted ? this.#hintedPart(number, name, signal) : this.#part(number, name);
  }

  /** A player that starts earlier would start in the gap, or with too little media. */
  #hasHoldBack(): boolean {
    const { partTargetSeconds = 0, nextSequence, firstMediaSequence, openSegment } = this.#state;
    return nextSequence > firstMediaSequence || (openSegment?.durationSeconds ?? 0) >= 3 * partTargetSeconds;
  }

  #hasReached(msn: number, part: number | undefined): boolean {
    const { nextSequence, openPartCount } = this.#state;
    if (part === undefined || msn < nextSequence) {
      if (msn >= nextSequence) return false;
      // 6.2.5.2: an index past the last part of a closed segment means part 0 of the next. A gap has no parts to wait for.
      const parts = this.#segments.partsOf(msn);
      if (part === undefined || parts === undefined || part < parts.length) return true;
      return this.#hasReached(msn + 1, 0);
    }
    return msn === nextSequence && openPartCount > part;
  }

  #isTooFarAhead(msn: number, part: number | undefined): boolean {
    const { nextSequence, partTargetSeconds: target = 1, openPartCount } = this.#state;
    if (msn > nextSequence + 1) return true;
    if (part === undefined || msn < nextSequence) return false;
    // The advance part limit of 6.2.5.2, plus a segment: hls.js asks for the highest index it has seen.
    const ahead =
      (target >= 1 ? 3 : Math.ceil(3 / target)) + Math.ceil(this.#state.targetDurationSeconds / target);
    const newest = msn === nextSequence ? openPartCount - 1 : -1;
    return part > newest + ahead;
  }

  #playlistResponse(skip: 'no' | 'yes' | 'v2', isBlockingReload: boolean): PlaylistResponse {
    const { isEnded } = this.#state;
    return {
      status: 200,
      text: this.#playlist.text(skip !== 'no' && !isEnded ? 'delta' : 'whole'),
      isBlockingReload,
      targetDurationSeconds: this.#state.targetDurationSeconds,
      isComplete: isEnded,
    };
  }

  async #waitUntil(isReady: () => boolean, limitMs: number, signal: ViewerSignal): Promise<boolean> {
    if (this.#state.isEnded) return true;
    if (this.#hasLeft) return isReady();
    const isReached = await this.#blocked.waitUntil(isReady, limitMs, signal);
    return this.#hasLeft && !this.#state.isEnded ? isReady() : isReached;
  }

  async #hintedPart(number: number, name: string, signal: ViewerSignal): Promise<MediaResponse | undefined> {
    // The part does not come soon once a still is listed instead of it.
    const isSettled = () => this.#state.nextPartNumber > number || this.#state.endsWithFiller;
    await this.#waitUntil(isSettled, this.#state.targetDurationSeconds * 3000, signal);
    return this.#part(number, name);
  }

  #part(number: number, name: string): MediaResponse | undefined {
    const part = this.#segments.part(number);
    const [bytes] = part?.body ?? [];
    if (!Buffer.isBuffer(bytes)) return this.#mediaResponse(part, name);
    let response = this.#partResponses.get(bytes);
    if (response === undefined) {
      response = this.#mediaResponse(part, name)!;
      this.#partResponses.set(bytes, response);
    }
    return response;
  }

  #init(number: number, name: string): MediaResponse | undefined {
    const init = this.#segments.init(number);
    return this.#mediaResponse(init && { body: [init], bytes: init.length }, name);
  }

  #mediaResponse(media: StoredMedia | undefined, name: string): MediaResponse | undefined {
    if (media === undefined) return undefined;
    const { body, bytes } = media;
    const keptSeconds = Math.max(6 * this.#state.targetDurationSeconds, this.#segments.listSeconds);
    return {
      parts: body,
      bytes,
      contentType: 'video/mp4',
      // A name's media never changes, so name and size identify it.
      etag: `"${name}-${bytes}"`,
      lifetimeSeconds: Math.ceil(keptSeconds),
    };
  }
}
