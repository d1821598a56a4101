import { expect } from 'vitest';
import { parseMediaPlaylist } from '../../scripts/parse-media-playlist.ts';
import { type ClaimablePart, LiveWindow, type LiveWindowOptions } from '../../src/live/window/live-window.ts';
import type { MediaPlaylist } from '../../src/media/hls/media-playlist.ts';

/** A clock that tests advance, from 2026-01-01. */
export class ManualClock {
  passedMs = 0;

  nowMs(): number {
    return Date.UTC(2026, 0, 1) + this.passedMs;
  }

  monotonicMs(): number {
    return this.passedMs;
  }
}

export const partSeconds = 0.5;
export const partBytes = 1000;

/** A window that is filled in real time with parts of half a second. */
export class FilledWindow {
  readonly clock = new ManualClock();
  readonly window: LiveWindow;
  changes = 0;
  mediaMs = 0;

  constructor(options: Partial<LiveWindowOptions> = {}) {
    this.window = new LiveWindow({
      targetDurationSeconds: 2,
      windowSeconds: 16,
      maxBytes: 64 * 1024 * 1024,
      clock: this.clock,
      onChange: () => {
        this.changes += 1;
      },
      ...options,
    });
    this.window.useInit(Buffer.from('init 1'));
    this.window.fixPartTarget(partSeconds);
  }

  open(isIndependent = true): void {
    this.window.openSegment({ startMs: this.mediaMs, isIndependent });
  }

  part(isIndependent = false, bytes = partBytes): ClaimablePart {
    this.mediaMs += partSeconds * 1000;
    this.clock.passedMs += partSeconds * 1000;
    return this.window.addPart({
      body: Buffer.alloc(bytes, this.window.nextSequenceNumber()),
      durationSeconds: partSeconds,
      isIndependent,
      newestFrameMs: this.mediaMs,
    });
  }

  /** Number of the newest closed segment. */
  get newest(): number {
    return this.window.liveEdge!.lastMsn;
  }

  /** Opens a segment with `parts` parts. */
  begin(parts: number): void {
    this.open();
    for (let index = 0; index < parts; index += 1) this.part(index === 0);
  }

  /** A whole segment of two seconds. */
  segment(parts = 4): void {
    this.begin(parts);
    this.window.closeSegment();
  }

  segments(count: number): void {
    for (let index = 0; index < count; index += 1) this.segment();
  }

  /** The playlist as text; fails for any other status than 200. */
  async text(query = ''): Promise<string> {
    const answer = await this.ask(query);
    if (answer.status !== 200) throw new Error(`${query} was answered ${answer.status}: ${answer.reason}`);
    return answer.text.plain.toString();
  }

  async playlist(query = ''): Promise<MediaPlaylist> {
    return parseMediaPlaylist(await this.text(query));
  }

  ask(query = '', signal = new AbortController().signal) {
    return this.window.requests.mediaPlaylist(new URLSearchParams(query), signal);
  }

  async media(name: string): Promise<number | string> {
    const answer = await this.window.requests.media(name, new AbortController().signal);
    if (answer === undefined) return 404;
    expect(answer.parts.reduce((sum, piece) => sum + piece.length, 0)).toBe(answer.bytes);
    return answer.bytes;
  }
}
