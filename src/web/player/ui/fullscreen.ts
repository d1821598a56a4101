/** iPhones show only the video element in fullscreen. */
type WebkitVideo = HTMLVideoElement & { webkitEnterFullscreen?(): void };

export function canEnterFullscreen(video: WebkitVideo): boolean {
  return document.fullscreenEnabled || video.webkitEnterFullscreen !== undefined;
}

export async function toggleFullscreen(player: HTMLElement, video: WebkitVideo): Promise<void> {
  if (document.fullscreenElement !== null) await document.exitFullscreen();
  else if (document.fullscreenEnabled) await player.requestFullscreen({ navigationUI: 'hide' });
  else video.webkitEnterFullscreen?.();
}

export async function togglePictureInPicture(video: HTMLVideoElement): Promise<void> {
  if (document.pictureInPictureElement !== null) await document.exitPictureInPicture();
  else if (video.readyState > HTMLMediaElement.HAVE_NOTHING) await video.requestPictureInPicture();
}
