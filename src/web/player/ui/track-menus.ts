import type { AudioTracks } from '../media/audio-tracks.ts';
import type { Captions } from '../media/captions.ts';
import type { MenuItem, MenuPage } from './popup-menu.ts';

export function audioPage(audio: AudioTracks): MenuPage {
  const { chosen, options } = audio;
  return {
    title: 'Audio',
    items: options.map(({ id, label, hint }) => ({
      label,
      hint,
      isChosen: id === chosen?.id,
      choose: () => audio.choose(id),
    })),
  };
}

export function captionsPage(captions: Captions): MenuPage {
  return {
    title: 'Captions',
    items: [
      {
        label: 'Off',
        isChosen: captions.language === undefined,
        choose: () => captions.choose(undefined),
      },
      ...captions.tracks.map(({ language, label }) => ({
        label,
        isChosen: language === captions.language,
        choose: () => captions.choose(language),
      })),
    ],
  };
}

/** A single track is no choice. */
export function audioItem(audio: AudioTracks, opens: () => MenuPage): MenuItem[] {
  return audio.options.length < 2 ? [] : [{ label: 'Audio', hint: audio.chosen?.label, opens }];
}

export function captionsItem(captions: Captions, opens: () => MenuPage): MenuItem[] {
  if (captions.tracks.length === 0) return [];
  const hint = captions.tracks.find(({ language }) => language === captions.language)?.label ?? 'Off';
  return [{ label: 'Captions', hint, opens }];
}

export function withBack(page: () => MenuPage, back: () => MenuPage): () => MenuPage {
  return () => ({ ...page(), back });
}
