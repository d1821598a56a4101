import type { Chapter } from '../../shared/chapters.ts';
import { cueAt } from '../../shared/cue-at.ts';
import { formatSpokenTime, formatTime } from '../../shared/time-text.ts';
import { pageElement } from '../ui/page-elements.ts';
import { type BarPosition, percentOf, SeekPointer } from '../ui/seek-pointer.ts';
import { SeekPreview } from './seek-preview.ts';
import type { VodPlayer } from './vod-player.ts';

const keySeconds = 5;
const pageFraction = 0.1;

export class VodSeekBar {
  readonly preview = new SeekPreview();
  readonly #player: VodPlayer;
  readonly #bar = pageElement('seek', HTMLElement);
  readonly #loaded = pageElement('seek-loaded', HTMLElement);
  readonly #missing = pageElement('seek-missing', HTMLElement);
  readonly #marks = pageElement('seek-marks', HTMLElement);
  readonly #time = pageElement('time', HTMLElement);
  readonly #chapterName = pageElement('chapter-name', HTMLElement);
  readonly #pointer: SeekPointer;
  #chapters: readonly Chapter[] = [];
  #frame = 0;

  constructor(player: VodPlayer) {
    this.#player = player;
    this.#pointer = new SeekPointer(this.#bar, {
      canSeek: () => player.totalSeconds !== 0,
      point: place => this.#point(place),
      stopPointing: () => this.preview.hide(),
      refresh: () => this.refresh(),
      seek: seconds => player.seekTo(seconds),
    });
    this.#bar.addEventListener('keydown', event => this.#onKey(event));
    const { video } = player;
    for (const event of ['timeupdate', 'seeking', 'progress', 'durationchange', 'emptied'] as const) {
      video.addEventListener(event, () => this.refresh());
    }
    // `timeupdate` comes four times a second, which is visible in a short video.
    video.addEventListener('playing', () => this.#animate());
  }

  get isDragged(): boolean {
    return this.#pointer.draggedTo !== undefined;
  }

  get chapters(): readonly Chapter[] {
    return this.#chapters;
  }

  setChapters(chapters: readonly Chapter[]): void {
    this.#chapters = chapters;
    this.refresh();
    this.#renderChapterMarks();
  }

  refresh(): void {
    const { video, session, totalSeconds } = this.#player;
    const now = this.#pointer.draggedTo ?? video.currentTime;
    this.#bar.style.setProperty('--played', percentOf(now, totalSeconds));
    this.#loaded.style.setProperty('background-image', this.#loadedGradient(totalSeconds));
    const isGrowing = session.media.isGrowing && session.media.availableSeconds > 0;
    const missingFrom = isGrowing ? session.media.availableSeconds : totalSeconds;
    this.#missing.style.setProperty('left', percentOf(missingFrom, totalSeconds));
    this.#missing.hidden = !isGrowing;
    const text = `${formatTime(now)} / ${formatTime(totalSeconds)}`;
    if (this.#time.textContent !== text) {
      this.#time.textContent = text;
      this.#bar.setAttribute('aria-valuemax', String(Math.round(totalSeconds)));
      this.#bar.setAttribute('aria-valuenow', String(Math.round(now)));
      this.#bar.setAttribute(
        'aria-valuetext',
        `${formatSpokenTime(now)} of ${formatSpokenTime(totalSeconds)}`,
      );
      this.#renderChapterMarks();
    }
    const chapter = cueAt(this.#chapters, now)?.name ?? '';
    if (this.#chapterName.textContent !== chapter) this.#chapterName.textContent = chapter;
  }

  #animate(): void {
    cancelAnimationFrame(this.#frame);
    const step = () => {
      if (this.#player.video.paused) return;
      if (!this.#player.root.classList.contains('is-idle')) this.refresh();
      this.#frame = requestAnimationFrame(step);
    };
    this.#frame = requestAnimationFrame(step);
  }

  #loadedGradient(totalSeconds: number): string {
    const { buffered } = this.#player.video;
    const stops: string[] = [];
    for (let index = 0; index < buffered.length; index += 1) {
      const from = percentOf(buffered.start(index), totalSeconds);
      const to = percentOf(buffered.end(index), totalSeconds);
      stops.push(`transparent ${from}`, `currentcolor ${from}`, `currentcolor ${to}`, `transparent ${to}`);
    }
    return stops.length === 0 ? 'none' : `linear-gradient(to right, ${stops.join(', ')})`;
  }

  #renderChapterMarks(): void {
    const { totalSeconds } = this.#player;
    const key = `${totalSeconds} ${this.#chapters.map(({ startSeconds }) => startSeconds).join()}`;
    if (totalSeconds === 0 || this.#marks.dataset.key === key) return;
    this.#marks.dataset.key = key;
    this.#marks.replaceChildren(
      ...this.#chapters
        .filter(({ startSeconds }) => startSeconds > 0 && startSeconds < totalSeconds)
        .map(({ startSeconds }) => {
          const mark = document.createElement('i');
          mark.style.setProperty('left', percentOf(startSeconds, totalSeconds));
          return mark;
        }),
    );
  }

  #point({ fraction, x, width }: BarPosition): number {
    const seconds = fraction * this.#player.totalSeconds;
    this.preview.show(seconds, x, width, this.#chapters);
    return seconds;
  }

  #onKey(event: KeyboardEvent): void {
    const { totalSeconds } = this.#player;
    const seconds = {
      ArrowUp: keySeconds,
      ArrowDown: -keySeconds,
      PageUp: totalSeconds * pageFraction,
      PageDown: -totalSeconds * pageFraction,
    }[event.key];
    if (seconds === undefined) return;
    event.preventDefault();
    this.#player.seekBy(seconds);
  }
}
