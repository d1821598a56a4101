import { setTimeout as sleep } from 'node:timers/promises';
import type { MediaPlaylist } from '../src/media/hls/media-playlist.ts';
import { parseMultivariantPlaylist } from '../src/media/hls/multivariant-playlist.ts';
import { parseMediaPlaylist } from '../src/media/hls/parse-media-playlist.ts';

/** Follows a live stream by blocking reloads as a player does, and measures how old the newest part is when it is listed. */
export class LatencyProbe {
  readonly #url: string;
  readonly #agesMs: number[] = [];
  #holdBackSeconds = 0;
  #isStopped = false;

  /** @param url of the multivariant playlist */
  constructor(url: string) {
    this.#url = url;
  }

  /** @throws Error when there is nothing to play after `timeoutMs`. */
  async waitUntilPlayable(timeoutMs: number): Promise<void> {
    const deadlineMs = Date.now() + timeoutMs;
    for (;;) {
      const answer = await fetch(this.#url);
      await answer.arrayBuffer();
      if (answer.ok) return;
      if (Date.now() > deadlineMs) throw new Error(`Nothing to play at ${this.#url} after ${timeoutMs} ms`);
      await sleep(20);
    }
  }

  /** Measures until {@link stop}, or the end of the broadcast. */
  async run(): Promise<void> {
    try {
      await this.#follow();
    } catch (error) {
      if (!this.#isStopped) throw error;
    }
  }

  async #follow(): Promise<void> {
    const multivariant = parseMultivariantPlaylist(await this.#text(this.#url));
    const media = new URL(multivariant.variants[0]!.uri, this.#url).href;
    let playlist = parseMediaPlaylist(await this.#text(media));
    while (!this.#isStopped && !playlist.endList) {
      const msn = playlist.mediaSequence + playlist.segments.length;
      const part = playlist.openParts?.parts?.length ?? 0;
      playlist = parseMediaPlaylist(await this.#text(`${media}?_HLS_msn=${msn}&_HLS_part=${part}`));
      this.#note(playlist, Date.now());
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** What was measured, in words. */
  report(): string {
    const sorted = this.#agesMs.toSorted((a, b) => a - b);
    if (sorted.length === 0) return 'Nothing was measured.';
    const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)]!);
    const behind = (this.#holdBackSeconds + at(0.5) / 1000).toFixed(2);
    return [
      `Measured over ${sorted.length} parts: the end of a part can be fetched ${at(0.5)} ms (p50), ${at(0.95)} ms (p95) after its time,`,
      `and players hold back ${this.#holdBackSeconds.toFixed(2)} s: a viewer is about ${behind} s behind what the server receives.`,
    ].join('\n');
  }

  #note(playlist: MediaPlaylist, nowMs: number): void {
    this.#holdBackSeconds = playlist.serverControl?.partHoldBackSeconds ?? 0;
    const newest = playlist.openParts?.parts?.length ? playlist.openParts : playlist.segments.at(-1);
    if (newest?.programDateTimeMs === undefined) return;
    const seconds = (newest.parts ?? []).reduce((sum, part) => sum + part.durationSeconds, 0);
    this.#agesMs.push(nowMs - (newest.programDateTimeMs + seconds * 1000));
  }

  async #text(url: string): Promise<string> {
    const answer = await fetch(url);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
    return text;
  }
}
