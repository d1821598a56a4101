import { plainCueText } from '../../media/webvtt/cue-text.ts';
import { parseCues } from '../../media/webvtt/cues.ts';
import { cueAt } from '../shared/cue-at.ts';
import { formatTime } from '../shared/time-text.ts';
import { make, part } from './elements.ts';
import { t } from './texts.ts';
import { preferredTrack, type WatchedVideo } from './watch-state.ts';

interface Line {
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly text: string;
  /** Text in which searches look. */
  readonly folded: string;
}

const linesPerGroup = 50;
const maxMatches = 300;
const maxLineChars = 2_000;

/** The captions of a video as text, loaded when the viewer opens it. */
export class Transcript {
  readonly #section = part('transcript');
  readonly #seekTo: (seconds: number) => void;
  #list = make('div');
  #matches = make('div');
  #found = make('p');
  #follow = make('button');
  #lines: readonly Line[] = [];
  #rows: HTMLButtonElement[] = [];
  #current: HTMLButtonElement | undefined;
  #isFollowing = true;
  #seconds = 0;
  #wanted = '';
  /** Ends what still arrives for an earlier choice. */
  #load = new AbortController();

  constructor(seekTo: (seconds: number) => void) {
    this.#seekTo = seekTo;
  }

  show({ captions }: WatchedVideo): void {
    this.#load.abort();
    this.#section.hidden = captions.length === 0;
    const first = preferredTrack(captions);
    if (first === undefined) return;
    this.#list = make('div', { class: 'lines' });
    this.#matches = make('div', { class: 'lines', hidden: true });
    this.#found = make('p', { class: 'found', role: 'status' });
    this.#follow = make(
      'button',
      { type: 'button', class: 'follow', hidden: true },
      t('watch.followPlayback'),
    );
    const search = make('input', {
      type: 'search',
      placeholder: t('watch.searchTranscript'),
      'aria-label': t('watch.searchTranscript'),
    });
    const language = make('select', { 'aria-label': t('watch.language'), hidden: captions.length < 2 });
    for (const track of captions) {
      language.append(make('option', { value: track.src, selected: track === first }, track.label));
    }
    const scroller = make('div', { class: 'scroller' }, this.#list, this.#matches);
    const details = make(
      'details',
      {},
      make('summary', {}, make('h2', { id: 'transcript-title' }, t('watch.transcript'))),
      make('div', { class: 'tools' }, search, language),
      this.#found,
      scroller,
      this.#follow,
    );
    details.addEventListener('toggle', () => {
      if (details.open && this.#rows.length === 0) void this.#read(language.value);
    });
    language.addEventListener('change', () => void this.#read(language.value));
    search.addEventListener('input', () => this.#search(search.value));
    for (const event of ['wheel', 'touchmove'] as const) {
      scroller.addEventListener(event, () => this.#setFollowing(false), { passive: true });
    }
    scroller.addEventListener('keydown', ({ key }) => {
      if (/^(?:Arrow|Page|Home|End)/.test(key)) this.#setFollowing(false);
    });
    this.#follow.addEventListener('click', () => this.#setFollowing(true));
    this.#rows = [];
    this.#wanted = '';
    this.#section.replaceChildren(details);
  }

  follow(seconds: number): void {
    this.#seconds = seconds;
    const line = cueAt(this.#lines, seconds);
    const row = line && this.#rows[this.#lines.indexOf(line)];
    if (row === this.#current) return;
    this.#current?.removeAttribute('aria-current');
    row?.setAttribute('aria-current', 'true');
    this.#current = row;
    this.#scrollToCurrent();
  }

  #setFollowing(isFollowing: boolean): void {
    this.#isFollowing = isFollowing;
    this.#follow.hidden = isFollowing;
    this.#scrollToCurrent();
  }

  /** Scrolls the list only: the page stays where the viewer reads. */
  #scrollToCurrent(): void {
    const scroller = this.#list.parentElement;
    if (!this.#isFollowing || this.#list.hidden || this.#current === undefined || scroller === null) return;
    const { top, height } = this.#current.getBoundingClientRect();
    const box = scroller.getBoundingClientRect();
    scroller.scrollBy({ top: top + height / 2 - box.top - box.height / 3 });
  }

  async #read(src: string): Promise<void> {
    this.#load.abort();
    this.#load = new AbortController();
    const { signal } = this.#load;
    this.#found.textContent = t('watch.loading');
    try {
      const response = await fetch(src, { signal });
      const vtt = response.ok ? await response.text() : '';
      const lines = parseLines(vtt);
      this.#found.textContent = lines.length === 0 ? t('watch.noTranscript') : '';
      await this.#render(lines, signal);
    } catch {
      if (!signal.aborted) this.#found.textContent = t('watch.noTranscript');
    }
  }

  /** Adds one group at a time: a long transcript keeps the page responsive. */
  async #render(lines: readonly Line[], signal: AbortSignal): Promise<void> {
    this.#lines = lines;
    this.#rows = [];
    this.#current = undefined;
    this.#list.replaceChildren();
    for (let at = 0; at < lines.length && !signal.aborted; at += linesPerGroup) {
      const rows = lines.slice(at, at + linesPerGroup).map(line => this.#row(line, line.text));
      this.#rows.push(...rows);
      const group = make('div', { class: 'group' }, ...rows);
      group.style.setProperty('--lines', String(rows.length));
      this.#list.append(group);
      if (at % (10 * linesPerGroup) === 0) await new Promise(resolve => setTimeout(resolve, 0));
    }
    if (signal.aborted) return;
    this.follow(this.#seconds);
    // Matches are those of these lines.
    if (this.#wanted !== '') this.#search(this.#wanted);
  }

  #row({ startSeconds }: Line, ...content: readonly (Node | string)[]): HTMLButtonElement {
    const row = make(
      'button',
      { type: 'button', class: 'line' },
      make('span', { class: 'line-time' }, formatTime(startSeconds)),
      make('span', { class: 'line-text', dir: 'auto' }, ...content),
    );
    row.addEventListener('click', () => {
      this.#setFollowing(true);
      this.#seekTo(startSeconds);
    });
    return row;
  }

  #search(wanted: string): void {
    this.#wanted = wanted;
    const folded = fold(wanted.trim());
    this.#list.hidden = folded !== '';
    this.#matches.hidden = folded === '';
    this.#found.textContent = '';
    if (folded === '') {
      this.#matches.replaceChildren();
      this.#scrollToCurrent();
      return;
    }
    const found = this.#lines.filter(line => line.folded.includes(folded));
    this.#found.textContent = t('watch.matches', { count: found.length });
    this.#matches.replaceChildren(
      ...found.slice(0, maxMatches).map(line => this.#row(line, ...markedText(line, folded))),
    );
  }
}

function parseLines(vtt: string): Line[] {
  return parseCues(vtt).flatMap(({ startMs, endMs, text }) => {
    const plain = plainCueText(text.slice(0, maxLineChars)).replace(/\s+/g, ' ').trim();
    if (plain === '') return [];
    return [{ startSeconds: startMs / 1000, endSeconds: endMs / 1000, text: plain, folded: fold(plain) }];
  });
}

/** Keeps the length of most texts, so that positions are those of the text. */
function fold(text: string): string {
  return text.toLowerCase();
}

function markedText({ text, folded }: Line, wanted: string): (Node | string)[] {
  if (folded.length !== text.length) return [text];
  const parts: (Node | string)[] = [];
  let end = 0;
  for (let at = folded.indexOf(wanted); at !== -1; at = folded.indexOf(wanted, end)) {
    parts.push(text.slice(end, at), make('mark', {}, text.slice(at, at + wanted.length)));
    end = at + wanted.length;
  }
  return [...parts, text.slice(end)];
}
