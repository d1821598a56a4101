import type { PlayerTexts } from '../../i18n/player.ts';
import { isForPlayer } from '../element/key-target.ts';
import type { PlayerMedia } from '../element/player-media.ts';
import { seekText } from './formats.ts';
import { isRepeatable, type KeyAction, keyActionOf } from './keys.ts';

const volumeStep = 0.1;
const sliderSeconds = 5;
const pageFraction = 0.1;
const livePageSeconds = 60;

export interface KeyboardTarget {
  readonly media: PlayerMedia;
  readonly texts: PlayerTexts;
  readonly isReady: boolean;
  hint(text: string): void;
  /** Uses a button of the controls, unless it is hidden. */
  press(id: 'fullscreen' | 'pip' | 'theatre' | 'next' | 'previous'): void;
  openHelp(): void;
}

/** Moves the focused slider. @returns true if it was one, and the key is for it */
export function onSliderKey(event: KeyboardEvent, media: PlayerMedia): boolean {
  const slider = (event.composedPath()[0] as Element).getRootNode();
  const id = slider instanceof ShadowRoot ? slider.host.id : '';
  const steps = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 }[
    event.key
  ];
  if (event.ctrlKey || event.altKey || event.metaKey || !['seek', 'volume'].includes(id)) return false;
  if (id === 'volume' && steps !== undefined) {
    const volume = Math.min(1, Math.max(0, (media.muted ? 0 : media.volume) + steps * 0.05));
    media.volume = volume;
    media.muted = volume === 0;
  } else if (steps !== undefined) {
    const isPage = Math.abs(steps) > 1;
    const page = media.streamType === 'live' ? livePageSeconds : media.duration * pageFraction;
    media.seekBy(Math.sign(steps) * (isPage ? page : sliderSeconds));
  } else if (id === 'seek' && event.key === 'Home') media.seekToFraction(0);
  else if (id === 'seek' && event.key === 'End') media.seekToFraction(1);
  else return false;
  event.preventDefault();
  return true;
}

/** @returns true if the key was for the player */
export function onPlayerKey(event: KeyboardEvent, target: KeyboardTarget): boolean {
  const action = isForPlayer(event) ? keyActionOf(event.key) : undefined;
  if (action === undefined || (action.does !== 'help' && !target.isReady)) return false;
  event.preventDefault();
  if (!event.repeat || isRepeatable(action)) perform(action, target);
  return true;
}

function perform(action: KeyAction, target: KeyboardTarget): void {
  const { media } = target;
  const hint = (text: string) => target.hint(text);
  const { t } = target.texts;
  switch (action.does) {
    case 'toggle-play':
      if (media.wantsToPlay) media.pause();
      else void media.play();
      break;
    case 'mute':
      media.muted = !media.muted;
      hint(t(media.muted ? 'player.muted' : 'player.unmuted'));
      break;
    case 'volume': {
      const volume = (media.muted ? 0 : media.volume) + action.steps * volumeStep;
      media.volume = Math.min(1, Math.max(0, volume));
      media.muted = volume < volumeStep / 2;
      hint(t('player.volumeLevel', { percent: media.muted ? 0 : media.volume }));
      break;
    }
    case 'fullscreen':
    case 'theatre':
    case 'next':
    case 'previous':
      target.press(action.does);
      break;
    case 'picture-in-picture':
      target.press('pip');
      break;
    case 'captions': {
      const isShown = media.toggleCaptions();
      if (isShown === undefined) hint(t('player.noCaptions'));
      else hint(t(isShown ? 'player.captionsOn' : 'player.captionsOff'));
      break;
    }
    case 'seek-by':
      media.seekBy(action.seconds);
      hint(seekText(action.seconds));
      break;
    case 'seek-to':
      if (action.part === 1 && media.streamType === 'live') media.goToLive();
      else media.seekToFraction(action.part);
      break;
    case 'rate':
      hint(`${media.stepRate(action.steps)}×`);
      break;
    case 'frame':
      media.stepFrame(action.steps);
      break;
    case 'help':
      target.openHelp();
      break;
  }
}
