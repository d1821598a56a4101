import { BackOff } from '../../shared/back-off.ts';
import { parseChapters } from '../../shared/chapters.ts';
import { parseStoryboard } from '../../shared/storyboard.ts';
import type { SourceCues } from './player-source.ts';

const maxTries = 5;
const firstRetryMs = 1_000;
const lastRetryMs = 8_000;

type Cue = Pick<VTTCue, 'startTime' | 'endTime' | 'text'>;

/** Text tracks of chapters and of frames for the seek bar, as controls read them. Both stay when other media is played. */
export class CueTracks {
  readonly #video: HTMLVideoElement;
  readonly #tracks = new Map<string, TextTrack>();
  #chapters: string | undefined;
  #storyboard: string | undefined;
  #isStoryboardWanted = false;

  constructor(video: HTMLVideoElement) {
    this.#video = video;
  }

  update({ chapters, storyboard }: SourceCues): void {
    if (chapters !== this.#chapters) {
      this.#chapters = chapters;
      void this.#loadChapters(chapters);
    }
    if (storyboard !== this.#storyboard) {
      this.#storyboard = storyboard;
      this.#setCues('metadata', []);
      if (this.#isStoryboardWanted) void this.#loadStoryboard(storyboard);
    }
  }

  /** Loads the frames before the viewer reaches the seek bar. Call it when the pointer enters the player. */
  wantStoryboard(): void {
    if (this.#isStoryboardWanted) return;
    this.#isStoryboardWanted = true;
    void this.#loadStoryboard(this.#storyboard);
  }

  async #loadChapters(address: string | undefined): Promise<void> {
    const chapters = parseChapters(await fetchText(address, () => address === this.#chapters));
    if (address !== this.#chapters) return;
    this.#setCues(
      'chapters',
      chapters.map(({ startSeconds, endSeconds, name }) => ({
        startTime: startSeconds,
        endTime: endSeconds,
        text: escapeCueText(name),
      })),
    );
  }

  async #loadStoryboard(address: string | undefined): Promise<void> {
    if (address === undefined) return;
    const tiles = parseStoryboard(await fetchText(address, () => address === this.#storyboard), address);
    if (address !== this.#storyboard) return;
    this.#setCues(
      'metadata',
      tiles.map(({ startSeconds, endSeconds, url, x, y, width, height }) => ({
        startTime: startSeconds,
        endTime: endSeconds,
        text: `${url}#xywh=${x},${y},${width},${height}`,
      })),
    );
    if (tiles[0] !== undefined) await loadImage(tiles[0].url);
  }

  #setCues(kind: 'chapters' | 'metadata', cues: readonly Cue[]): void {
    let track = this.#tracks.get(kind);
    if (track === undefined) {
      if (cues.length === 0) return;
      track = this.#video.addTextTrack(kind, kind === 'metadata' ? 'thumbnails' : 'chapters');
      track.mode = 'hidden';
      this.#tracks.set(kind, track);
    }
    for (const cue of [...(track.cues ?? [])]) track.removeCue(cue);
    for (const { startTime, endTime, text } of cues) track.addCue(new VTTCue(startTime, endTime, text));
    // Adding cues has no event.
    this.#video.textTracks.dispatchEvent(new Event('change'));
  }
}

/** Chapter titles are shown as text. Readers of cues parse them as HTML. */
function escapeCueText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Loads an image into the cache, so that the first preview has its picture. An image that nobody waits for may be dropped. */
async function loadImage(address: string): Promise<void> {
  const image = new Image();
  image.src = address;
  await image.decode().catch(() => {});
}

/** Returns the empty text of what there is not. Asks again where the network or the server fails, a few times. */
async function fetchText(address: string | undefined, isWanted: () => boolean): Promise<string> {
  if (address === undefined) return '';
  const backOff = new BackOff(firstRetryMs, lastRetryMs);
  for (let tries = 0; tries < maxTries; tries += 1) {
    if (tries > 0) await new Promise(resolve => setTimeout(resolve, backOff.next()));
    if (!isWanted()) break;
    try {
      const answer = await fetch(address);
      if (answer.ok) return await answer.text();
      if (answer.status < 500 && answer.status !== 429) break;
    } catch {
      // The network failed.
    }
  }
  return '';
}
