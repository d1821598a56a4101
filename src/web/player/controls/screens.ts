import type { PlayerTexts } from '../../i18n/player.ts';
import type { PlayerMedia } from '../element/player-media.ts';

const maxMinutesWithoutYear = 200 * 24 * 60;

export interface ScreenText {
  readonly title: string;
  readonly text: string;
  /** Buttons for what the viewer can do. */
  readonly actions: readonly ('try-again' | 'open-page' | 'share')[];
}

/** Text over the media in a phase without playback; undefined while there is playback. */
export function screenOf(media: PlayerMedia, texts: PlayerTexts): ScreenText | undefined {
  const { t } = texts;
  const isLive = media.streamType === 'live' || media.details?.kind === 'live';
  const screen = textsOf(media, isLive, texts);
  if (screen === undefined) return undefined;
  const { phase, refusalKind } = media;
  const reason = refusalKind === undefined ? media.refusalReason : t(`player.refused.${refusalKind}`);
  const text = phase === 'refused' ? (reason ?? screen.text) : screen.text;
  return { ...screen, text: media.isReachable ? text : t('player.unreachable') };
}

function textsOf(media: PlayerMedia, isLive: boolean, texts: PlayerTexts): ScreenText | undefined {
  const { t } = texts;
  switch (media.phase) {
    case 'waiting':
      return {
        title: startText(media.details?.startsAtMs, texts) ?? t('player.waitingTitle'),
        text: t('player.waitingText'),
        actions: [],
      };
    case 'starting':
      if (media.isSourceStalled)
        return { title: t('player.interruptedTitle'), text: t('player.interruptedText'), actions: [] };
      return { title: t('player.startingTitle'), text: t('player.startingText'), actions: [] };
    case 'ended':
      return { title: t('player.endedTitle'), text: t('player.endedText'), actions: ['share'] };
    case 'processing':
      return { title: t('player.processingTitle'), text: t('player.processingText'), actions: [] };
    case 'failed':
      return { title: t('player.failedTitle'), text: t('player.failedText'), actions: ['try-again'] };
    case 'missing':
      return {
        title: t(isLive ? 'player.missingStreamTitle' : 'player.missingVideoTitle'),
        text: t(isLive ? 'player.missingText' : 'player.missingVideoText'),
        actions: ['try-again'],
      };
    case 'refused':
      return {
        title: t(isLive ? 'player.refusedStreamTitle' : 'player.refusedVideoTitle'),
        text: t('player.refusedText'),
        actions: ['try-again', 'open-page'],
      };
    case 'unsupported':
      return {
        title: t(isLive ? 'player.unsupportedStreamTitle' : 'player.unsupportedVideoTitle'),
        text: t(isLive ? 'player.unsupportedStreamText' : 'player.unsupportedVideoText'),
        actions: ['open-page'],
      };
    default:
      return undefined;
  }
}

/** Tells when a stream starts: in minutes within the last hour. Undefined without a planned start, or after it. */
function startText(startsAtMs = 0, { t, locale }: PlayerTexts): string | undefined {
  const minutes = Math.ceil((startsAtMs - Date.now()) / 60_000);
  if (minutes <= 0) return undefined;
  if (minutes < 60)
    return t('player.startsIn', { time: new Intl.RelativeTimeFormat(locale).format(minutes, 'minute') });
  const format: Intl.DateTimeFormatOptions = {
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
  };
  if (minutes > maxMinutesWithoutYear) format.year = 'numeric';
  return t('player.startsOn', { time: new Date(startsAtMs).toLocaleString(locale, format) });
}

/** Text that stays over playback. */
export function noticeOf(media: PlayerMedia, { t }: PlayerTexts, isWaitingForRest: boolean): string {
  if (media.phase === 'reconnecting') return t('player.reconnecting');
  if (media.phase === 'live' && media.isSourceStalled) return t('player.sourceStalled');
  if (media.phase === 'ready' && !media.isReachable) return t('player.retrying');
  return media.phase === 'ready' && isWaitingForRest ? t('player.processingRest') : '';
}
