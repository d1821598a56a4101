/** iPhones can only show the video itself, not the page, on the whole screen. */
type WebkitVideo = HTMLVideoElement & { webkitEnterFullscreen?(): void };

/** Whether the player can fill the screen here. */
export function canEnterFullscreen(video: WebkitVideo): boolean {
  return document.fullscreenEnabled || video.webkitEnterFullscreen !== undefined;
}

/** Fills the screen with `player`, or leaves it. */
export async function toggleFullscreen(player: HTMLElement, video: WebkitVideo): Promise<void> {
  if (document.fullscreenElement !== null) await document.exitFullscreen();
  else if (document.fullscreenEnabled) await player.requestFullscreen({ navigationUI: 'hide' });
  else video.webkitEnterFullscreen?.();
}

/** Puts the video into a small window above all others, or takes it back. */
export async function togglePictureInPicture(video: HTMLVideoElement): Promise<void> {
  if (document.pictureInPictureElement !== null) await document.exitPictureInPicture();
  else if (video.readyState > HTMLMediaElement.HAVE_NOTHING) await video.requestPictureInPicture();
}
