import type { PlayerTexts } from '../../i18n/player.ts';
import { remember } from '../../shared/remember.ts';
import { formatTime } from '../../shared/time-text.ts';

/** A length of time in words, for screen readers. */
export function spokenTime(seconds: number, { locale }: PlayerTexts): string {
  const whole = Math.max(0, Math.floor(seconds + 0.01));
  const parts = {
    hours: Math.floor(whole / 3600),
    minutes: Math.floor(whole / 60) % 60,
    seconds: whole % 60,
  };
  if (DurationFormat === undefined) return formatTime(seconds);
  return durationFormat(locale, whole < 60 ? 'always' : 'auto').format(parts);
}

type DurationFormatClass = new (
  locale: string,
  options: { readonly style: 'long'; readonly secondsDisplay: 'always' | 'auto' },
) => { format(parts: Readonly<Record<string, number>>): string };
const { DurationFormat } = Intl as unknown as { readonly DurationFormat?: DurationFormatClass };
const durationFormat = remember(
  (locale: string, secondsDisplay: 'always' | 'auto') =>
    new DurationFormat!(locale, { style: 'long', secondsDisplay }),
);

/** Latency: tenths of a second below 10 s, and minutes above one. */
export function latencyText(seconds: number, { t }: PlayerTexts): string {
  if (seconds >= 59.5) return formatTime(seconds);
  const tenths = Math.max(0.1, Math.round(seconds * 10) / 10);
  return t('player.latencyValue', { seconds: seconds < 9.95 ? tenths : Math.round(seconds) });
}

export function seekText(seconds: number): string {
  return seconds < 0 ? `−${-seconds} s` : `+${seconds} s`;
}
