import { sheetColumns, sheetRows, slotMs, slotsPerSheet } from '../../../shared/limits/live-storyboard.ts';
import type { StoryboardRange } from './live-playlist.ts';

/** A frame as a part of an image, in pixels. */
export interface StoryboardFrame {
  readonly url: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface LoadedSheet {
  readonly url: string;
  readonly slots: number;
  readonly width: number;
  readonly height: number;
}

interface StoryboardSource {
  storyboardRange(): StoryboardRange | undefined;
  dateAt(seconds: number): Date | undefined;
}

const failureMs = 10_000;

/** Frames of a live stream for the seek bar. The server makes them on request, so that only those that a viewer looks for are loaded. */
export class LiveStoryboard {
  readonly #source: StoryboardSource;
  readonly #onLoaded: () => void;
  readonly #sheets = new Map<number, LoadedSheet>();
  #folder = '';
  /** Loaded next. Positions that the pointer has left are not waited for. */
  #wanted: { readonly sheet: number; readonly slots: number } | undefined;
  #isLoading = false;
  #failed: { readonly url: string; readonly atMs: number } | undefined;

  constructor(source: StoryboardSource, onLoaded: () => void) {
    this.#source = source;
    this.#onLoaded = onLoaded;
  }

  /** Undefined while it is not loaded: `onLoaded` is called once it is. */
  frameAt(seconds: number): StoryboardFrame | undefined {
    const range = this.#source.storyboardRange();
    const dateMs = this.#source.dateAt(seconds)?.getTime();
    if (range === undefined || dateMs === undefined) return undefined;
    return this.#find(range, Math.min(slotAt(dateMs), slotAt(range.endMs) - 1));
  }

  #find({ folder, endMs }: StoryboardRange, slot: number): StoryboardFrame | undefined {
    if (folder !== this.#folder) {
      this.#folder = folder;
      this.#sheets.clear();
    }
    const sheet = Math.floor(slot / slotsPerSheet);
    const firstSlot = sheet * slotsPerSheet;
    const loaded = this.#sheets.get(sheet);
    if (loaded === undefined || loaded.slots <= slot - firstSlot) {
      this.#wanted = { sheet, slots: Math.min(slotsPerSheet, slotAt(endMs) - firstSlot) };
      void this.#load();
    }
    if (loaded === undefined) return undefined;
    // The frame before stays until the newest one is there.
    const index = Math.min(slot - firstSlot, loaded.slots - 1);
    const width = loaded.width / sheetColumns;
    const height = loaded.height / sheetRows;
    const x = (index % sheetColumns) * width;
    const y = Math.floor(index / sheetColumns) * height;
    return { url: loaded.url, x, y, width, height };
  }

  async #load(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    while (this.#wanted !== undefined) {
      const { sheet, slots } = this.#wanted;
      this.#wanted = undefined;
      const folder = this.#folder;
      const url = `${folder}${sheet}-${slots}.jpg`;
      if (this.#failed?.url === url && performance.now() - this.#failed.atMs < failureMs) continue;
      const size = await loadImage(url);
      if (size === undefined) this.#failed = { url, atMs: performance.now() };
      else if (folder === this.#folder) {
        this.#sheets.set(sheet, { url, slots, ...size });
        this.#onLoaded();
      }
    }
    this.#isLoading = false;
  }
}

function slotAt(dateMs: number): number {
  return Math.floor(dateMs / slotMs);
}

async function loadImage(url: string): Promise<{ width: number; height: number } | undefined> {
  const image = new Image();
  // The same as in the preview, which takes it from the cache.
  image.crossOrigin = '';
  image.src = url;
  try {
    await image.decode();
  } catch {
    return undefined;
  }
  return { width: image.naturalWidth, height: image.naturalHeight };
}
