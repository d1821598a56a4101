import type { PlayerMedia } from './player-media.ts';

const defaultSeekSeconds = 10;

/** Gives the media keys and the lock screen to the player that began last. */
export function showMediaSession(media: PlayerMedia): void {
  const { details } = media;
  if (!('mediaSession' in navigator) || details === undefined) return;
  const { title, poster, kind } = details;
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

export function endMediaSession(): void {
  if (!('mediaSession' in navigator)) return;
  navigator.mediaSession.metadata = null;
  for (const action of ['play', 'pause', 'seekbackward', 'seekforward', 'seekto'] as const)
    navigator.mediaSession.setActionHandler(action, null);
}
