import { type Chapter, parseChapters } from '../shared/chapters.ts';
import { cueAt } from '../shared/cue-at.ts';
import { parseStoryboard, type StoryboardTile } from '../shared/storyboard.ts';
import { formatTime } from '../shared/time-text.ts';
import { make, part } from './elements.ts';
import { t } from './texts.ts';
import { preferredTrack, type WatchedVideo } from './watch-state.ts';

const imageWidth = 112;

/** The chapters of a video, with thumbnails from its storyboard. */
export class ChapterList {
  readonly #section = part('chapters');
  readonly #seekTo: (seconds: number) => void;
  #chapters: readonly Chapter[] = [];
  #buttons: readonly HTMLButtonElement[] = [];
  #current: HTMLButtonElement | undefined;

  constructor(seekTo: (seconds: number) => void) {
    this.#seekTo = seekTo;
  }

  async show(video: WatchedVideo): Promise<void> {
    const track = preferredTrack(video.chapters);
    const [chapters, tiles] = await Promise.all([
      textOf(track?.src).then(parseChapters),
      track === undefined || video.storyboard === undefined
        ? []
        : textOf(video.storyboard).then(vtt =>
            parseStoryboard(vtt, new URL(video.storyboard!, location.href).href),
          ),
    ]);
    this.#chapters = chapters;
    this.#current = undefined;
    this.#buttons = chapters.map(chapter => this.#button(chapter, tileOf(tiles, chapter)));
    const list = make('ol', { class: 'chapters' }, ...this.#buttons.map(button => make('li', {}, button)));
    this.#section.replaceChildren(make('h2', { id: 'chapters-title' }, t('watch.chapters')), list);
    this.#section.hidden = chapters.length === 0;
  }

  follow(seconds: number): void {
    const chapter = cueAt(this.#chapters, seconds);
    const current = chapter && this.#buttons[this.#chapters.indexOf(chapter)];
    if (current === this.#current) return;
    this.#current?.removeAttribute('aria-current');
    current?.setAttribute('aria-current', 'true');
    this.#current = current;
  }

  #button({ startSeconds, name }: Chapter, tile: StoryboardTile | undefined): HTMLButtonElement {
    const image = tile === undefined ? [] : [imageOf(tile)];
    const button = make(
      'button',
      { type: 'button', class: 'chapter' },
      ...image,
      make(
        'span',
        { class: 'chapter-text' },
        make('span', { class: 'chapter-name', dir: 'auto' }, name),
        make('span', { class: 'chapter-time' }, formatTime(startSeconds)),
      ),
    );
    button.addEventListener('click', () => this.#seekTo(startSeconds));
    return button;
  }
}

async function textOf(url: string | undefined): Promise<string> {
  if (url === undefined) return '';
  try {
    const response = await fetch(url);
    return response.ok ? await response.text() : '';
  } catch {
    // Without images, there are the names.
    return '';
  }
}

/** The middle of a chapter's first tile may be a cut: the tile after its start is in it for certain. */
function tileOf(
  tiles: readonly StoryboardTile[],
  { startSeconds, endSeconds }: Chapter,
): StoryboardTile | undefined {
  return (
    tiles.find(tile => tile.startSeconds >= startSeconds && tile.startSeconds < endSeconds) ??
    cueAt(tiles, startSeconds)
  );
}

function imageOf({ url, x, y, width, height }: StoryboardTile): HTMLElement {
  const tile = make('span', { class: 'tile' });
  tile.style.width = `${width}px`;
  tile.style.height = `${height}px`;
  tile.style.backgroundImage = `url(${JSON.stringify(url)})`;
  tile.style.backgroundPosition = `-${x}px -${y}px`;
  tile.style.transform = `scale(${imageWidth / width})`;
  const frame = make('span', { class: 'chapter-image' }, tile);
  frame.style.height = `${Math.min(imageWidth, Math.round((imageWidth * height) / width))}px`;
  return frame;
}
