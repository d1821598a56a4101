import type { Chapter } from '../../shared/chapters.ts';
import { cueAt } from '../../shared/cue-at.ts';
import { parseStoryboard, type StoryboardTile } from '../../shared/storyboard.ts';
import { formatTime } from '../../shared/time-text.ts';
import { pageElement } from '../ui/page-elements.ts';
import { positionAbove } from '../ui/seek-pointer.ts';

const maxWidthPixels = 192;
const maxWidthFraction = 0.44;

export class SeekPreview {
  readonly #element = pageElement('preview', HTMLElement);
  readonly #tile = pageElement('preview-tile', HTMLElement);
  readonly #chapter = pageElement('preview-chapter', HTMLElement);
  readonly #time = pageElement('preview-time', HTMLElement);
  readonly #sheets = new Map<string, HTMLImageElement>();
  #url: string | undefined;
  #tiles: readonly StoryboardTile[] = [];
  #isRequested = false;

  setStoryboard(address: string | undefined): void {
    if (address === this.#url) return;
    this.#url = address;
    this.#tiles = [];
    this.#sheets.clear();
    this.#isRequested = false;
  }

  show(seconds: number, x: number, barPixels: number, chapters: readonly Chapter[]): void {
    if (!this.#isRequested) void this.#fetch();
    this.#time.textContent = formatTime(seconds);
    this.#chapter.textContent = cueAt(chapters, seconds)?.name ?? '';
    this.#showTile(cueAt(this.#tiles, seconds) ?? this.#lastTile(seconds), barPixels);
    this.#element.classList.add('is-shown');
    positionAbove(this.#element, { x, width: barPixels });
  }

  hide(): void {
    this.#element.classList.remove('is-shown');
  }

  /** Durations and storyboards are rounded differently. */
  #lastTile(seconds: number): StoryboardTile | undefined {
    const last = this.#tiles.at(-1);
    return last !== undefined && seconds >= last.endSeconds ? last : undefined;
  }

  #showTile(tile: StoryboardTile | undefined, barPixels: number): void {
    const sheet = tile === undefined ? undefined : this.#sheet(tile.url);
    const isThere = tile !== undefined && sheet !== undefined && sheet.naturalWidth > 0;
    this.#tile.hidden = !isThere;
    if (!isThere) return;
    const tallestPixels = Math.max(60, innerHeight * 0.34);
    const scale = Math.min(
      maxWidthPixels / tile.width,
      (barPixels * maxWidthFraction) / tile.width,
      tallestPixels / tile.height,
    );
    const { style } = this.#tile;
    style.setProperty('width', `${tile.width * scale}px`);
    style.setProperty('height', `${tile.height * scale}px`);
    style.setProperty('background-image', `url("${tile.url}")`);
    style.setProperty('background-size', `${sheet.naturalWidth * scale}px ${sheet.naturalHeight * scale}px`);
    style.setProperty('background-position', `${-tile.x * scale}px ${-tile.y * scale}px`);
  }

  #sheet(url: string): HTMLImageElement {
    const known = this.#sheets.get(url);
    if (known !== undefined) return known;
    const image = new Image();
    image.src = url;
    this.#sheets.set(url, image);
    return image;
  }

  async #fetch(): Promise<void> {
    this.#isRequested = true;
    const address = this.#url;
    if (address === undefined) return;
    try {
      const url = new URL(address, location.href).href;
      const answer = await fetch(url);
      if (!answer.ok || address !== this.#url) return;
      this.#tiles = parseStoryboard(await answer.text(), url);
      for (const { url: sheet } of this.#tiles.slice(0, 1)) this.#sheet(sheet);
    } catch {
      // Shows the time without an image.
    }
  }
}
