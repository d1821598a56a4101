import { t, texts } from './texts.ts';

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Tells when a stream starts that is offline, and counts down. */
export class AnnouncedStart {
  readonly #place: HTMLElement;
  readonly #text: Element;
  readonly #startsAtMs: number;
  readonly #time: string;
  readonly #countdown = document.createElement('span');
  #timer = 0;

  /** @param place has the start as a `time` element */
  constructor(place: HTMLElement, time: HTMLTimeElement) {
    const at = new Date(time.dateTime);
    this.#place = place;
    this.#text = time.parentElement ?? place;
    this.#startsAtMs = at.getTime();
    this.#time = new Intl.DateTimeFormat(texts.locale, { dateStyle: 'full', timeStyle: 'short' }).format(at);
    this.#countdown.className = 'countdown';
    // Screen readers have the time: they do not say each second.
    this.#countdown.setAttribute('aria-hidden', 'true');
    this.#show();
  }

  hide(): void {
    clearTimeout(this.#timer);
    this.#place.remove();
  }

  #show(): void {
    const leftMs = this.#startsAtMs - Date.now();
    if (leftMs <= 0) {
      this.#text.replaceChildren(t('watch.startPlanned', { time: this.#time }));
      return;
    }
    this.#countdown.textContent = leftText(leftMs);
    if (!this.#countdown.isConnected)
      this.#text.replaceChildren(t('watch.starts', { time: this.#time }), ' · ', this.#countdown);
    const intervalMs = leftMs > 2 * dayMs ? minuteMs : secondMs;
    this.#timer = setTimeout(() => this.#show(), intervalMs - (Date.now() % intervalMs));
  }
}

/** Writes `in 3 days`, or hours, minutes and seconds on the last two days. */
function leftText(leftMs: number): string {
  if (leftMs > 2 * dayMs)
    return new Intl.RelativeTimeFormat(texts.locale).format(Math.floor(leftMs / dayMs), 'day');
  const seconds = Math.ceil(leftMs / secondMs);
  const two = new Intl.NumberFormat(texts.locale, { minimumIntegerDigits: 2 });
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map(value => two.format(value)).join(':');
}
