import '../player/element/millrace-player.ts';
import type { MillracePlayer } from '../player/element/millrace-player.ts';
import { AnnouncedStart } from './announced-start.ts';
import { ChapterList } from './chapters.ts';
import { icon, make, part } from './elements.ts';
import { EndedStream } from './ended-stream.ts';
import { t, texts } from './texts.ts';
import { theatreButton } from './theatre.ts';
import { Transcript } from './transcript.ts';
import { fetchWatchedVideo, parseWatchedVideo, type WatchedVideo } from './watch-state.ts';
import { WatchedPlayer } from './watched-player.ts';

/** A description that is higher is shortened at first. */
const maxDescriptionHeight = 190;

const page = part('page');
const place = part('watch-player');
const { kind, id = '', state = '', shareable } = page.dataset;
const isLive = kind === 'live';
const hasNext = document.getElementById('next-title') !== null;
let video = isLive ? undefined : parseWatchedVideo(state);

const seekTo = (seconds: number) => player.seekTo(seconds);
const chapters = new ChapterList(seekTo);
const transcript = new Transcript(seekTo);
const announcement = document.getElementById('announcement');
const startTime = announcement?.querySelector('time');
const announced = announcement && startTime && new AnnouncedStart(announcement, startTime);
const endedStream = isLive ? new EndedStream(id, url => void showRecording(url)) : undefined;
const player = new WatchedPlayer(place as MillracePlayer, {
  onTime: seconds => {
    chapters.follow(seconds);
    transcript.follow(seconds);
  },
  onPhase: phase => {
    if (phase === 'ready') void refresh();
    else if (phase === 'ended') endedStream?.ended();
    else if (phase === 'live') {
      announced?.hide();
      endedStream?.live();
    }
  },
  onViewers: count => {
    const viewers = document.getElementById('viewers');
    const text = count === undefined ? '' : t('watch.viewers', { count });
    if (viewers !== null && viewers.textContent !== text) viewers.textContent = text;
  },
  onNext: url => location.assign(`${url}#autoplay`),
});

/** Captions and chapters may arrive while the video is processed. */
async function refresh(): Promise<void> {
  if (video === undefined || video.isPlayable) return;
  const found = await fetchWatchedVideo(video.stateUrl).catch(() => undefined);
  if (found !== undefined) show(found);
}

function show(found: WatchedVideo): void {
  video = found;
  page.classList.toggle('has-side', hasNext || found.captions.length + found.chapters.length > 0);
  transcript.show(found);
  void chapters.show(found);
}

async function showRecording(url: string): Promise<void> {
  player.load(url);
  const found = await fetchWatchedVideo(`${url}/state`).catch(() => undefined);
  if (found !== undefined) show(found);
}

document.documentElement.lang = texts.language;
document.documentElement.dir = texts.direction;
const written = {
  live: t('watch.live'),
  streamRecorded: t('watch.streamRecorded'),
  watchRecording: t('watch.watchRecording'),
  upNext: t('watch.upNext'),
  moreVideos: t('watch.moreVideos'),
  addToCalendar: t('watch.addToCalendar'),
};
for (const element of document.querySelectorAll<HTMLElement>('[data-text]')) {
  const name = element.dataset.text as keyof typeof written;
  element.textContent = written[name];
}
const dateFormat = new Intl.DateTimeFormat(texts.locale, { dateStyle: 'long' });
for (const time of document.querySelectorAll('time'))
  time.textContent = dateFormat.format(new Date(time.dateTime));

const actions = part('actions');
if (shareable === 'true') {
  const share = make('button', { type: 'button', class: 'action' }, icon('share'), t('watch.share'));
  share.addEventListener('click', () => player.share());
  actions.append(share);
}
actions.append(theatreButton(page));

document.addEventListener('click', event => {
  const link = event.target instanceof Element ? event.target.closest('a[href^="#t="]') : null;
  if (link === null) return;
  event.preventDefault();
  seekTo(Number(link.getAttribute('href')?.slice('#t='.length)));
});

const description = document.getElementById('description');
if (description !== null && description.scrollHeight > maxDescriptionHeight) {
  const more = make(
    'button',
    { type: 'button', class: 'more', 'aria-expanded': 'false' },
    t('watch.showMore'),
  );
  description.classList.add('is-short');
  more.addEventListener('click', () => {
    const isOpen = !description.classList.toggle('is-short');
    more.textContent = isOpen ? t('watch.showLess') : t('watch.showMore');
    more.setAttribute('aria-expanded', String(isOpen));
  });
  description.after(more);
}

if (video !== undefined) show(video);
