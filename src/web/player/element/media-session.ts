import type { PlayerMedia } from './player-media.ts';

const defaultSeekSeconds = 10;

/** The player that began last. */
let shown: PlayerMedia | undefined;

/** Gives the media keys and the lock screen to the player that began last. */
export function showMediaSession(media: PlayerMedia): void {
  const { details } = media;
  if (!('mediaSession' in navigator) || details === undefined) return;
  const { title, poster, kind } = details;
  shown = media;
  const session = navigator.mediaSession;
  session.metadata = new MediaMetadata({
    title,
    artwork: poster === undefined ? [] : [{ src: poster, type: 'image/jpeg' }],
  });
  session.setActionHandler('play', () => void media.play());
  session.setActionHandler('pause', () => media.pause());
  const isVideo = kind === 'video';
  const seekBy = (sign: 1 | -1) => (details: MediaSessionActionDetails) =>
    media.seekBy(sign * (details.seekOffset ?? defaultSeekSeconds));
  session.setActionHandler('seekbackward', isVideo ? seekBy(-1) : null);
  session.setActionHandler('seekforward', isVideo ? seekBy(1) : null);
  session.setActionHandler(
    'seekto',
    isVideo
      ? ({ seekTime = 0 }) => {
          media.currentTime = seekTime;
        }
      : null,
  );
}

/** Leaves them to another player that began later. */
export function endMediaSession(media: PlayerMedia): void {
  if (shown !== media) return;
  shown = undefined;
  navigator.mediaSession.metadata = null;
  for (const action of ['play', 'pause', 'seekbackward', 'seekforward', 'seekto'] as const)
    navigator.mediaSession.setActionHandler(action, null);
}
