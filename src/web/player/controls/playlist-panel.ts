import type { PlayerTexts } from '../../i18n/player.ts';
import { formatTime } from '../../shared/time-text.ts';
import type { PlayerEntry } from '../element/player-media.ts';
import { openDialog } from './dialog.ts';
import { createElement, setText } from './elements.ts';

export interface PlaylistTarget {
  readonly urls: readonly string[];
  /** -1 when what plays is not in the list. */
  readonly current: number;
  describe(url: string): Promise<PlayerEntry | undefined>;
  play(index: number): void;
}

const parallel = 4;

/** A dialog with the entries of a playlist. What the server tells of them appears as it comes. */
export function openPlaylist(root: ParentNode, texts: PlayerTexts, target: PlaylistTarget): void {
  const { t } = texts;
  const list = createElement('ol', { className: 'entries' });
  const dialog = openDialog(root, texts, t('player.playlist'), list);
  dialog.id = 'playlist-panel';
  const fills = new Map<Element, () => Promise<void>>();
  target.urls.forEach((url, index) => {
    const thumbnail = createElement('span', { className: 'entry-thumbnail' });
    const title = createElement('span', {
      className: 'entry-title',
      text: t('player.playlistEntry', { number: index + 1 }),
    });
    const button = createElement('button', { className: 'entry', type: 'button' }, thumbnail, title);
    if (index === target.current) button.setAttribute('aria-current', 'true');
    button.addEventListener('click', () => {
      dialog.close();
      if (index !== target.current) target.play(index);
    });
    list.append(createElement('li', {}, button));
    fills.set(button, async () => {
      const entry = await target.describe(url);
      if (entry !== undefined) fill(entry, thumbnail, title, texts);
    });
  });
  const buttons = [...fills.keys()] as HTMLElement[];
  list.addEventListener('keydown', event => moveFocus(event, buttons));
  const focused = buttons[Math.max(0, target.current)];
  focused?.focus({ preventScroll: true });
  focused?.scrollIntoView({ block: 'nearest' });
  fillVisible(dialog, fills);
}

/** Fills entries once they are seen: a list may have thousands. */
function fillVisible(dialog: HTMLDialogElement, fills: ReadonlyMap<Element, () => Promise<void>>): void {
  const waiting = new Set<Element>();
  let running = 0;
  const work = async () => {
    running += 1;
    for (const element of waiting) {
      waiting.delete(element);
      observer.unobserve(element);
      await fills.get(element)!();
    }
    running -= 1;
  };
  const observer = new IntersectionObserver(changes => {
    for (const { target, isIntersecting } of changes)
      if (isIntersecting) waiting.add(target);
      else waiting.delete(target);
    while (running < parallel && waiting.size > 0) void work();
  });
  for (const element of fills.keys()) observer.observe(element);
  dialog.addEventListener('close', () => {
    observer.disconnect();
    waiting.clear();
  });
}

function fill(
  { title: text, poster, durationSeconds, isLive }: PlayerEntry,
  thumbnail: HTMLElement,
  title: HTMLElement,
  { t }: PlayerTexts,
): void {
  if (text !== '') setText(title, text);
  if (poster !== undefined) thumbnail.append(createElement('img', { src: poster, alt: '', loading: 'lazy' }));
  const time = durationSeconds === undefined ? '' : formatTime(durationSeconds);
  const badge = isLive ? t('player.live') : time;
  if (badge !== '') thumbnail.append(createElement('span', { className: 'entry-time', text: badge }));
}

function moveFocus(event: KeyboardEvent, buttons: readonly HTMLElement[]): void {
  const at = buttons.indexOf(event.target as HTMLElement);
  const last = buttons.length - 1;
  const to = { ArrowDown: Math.min(at + 1, last), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last }[
    event.key
  ];
  if (at === -1 || to === undefined) return;
  event.preventDefault();
  buttons[to]?.focus();
}
