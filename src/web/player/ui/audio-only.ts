export function markAudioOnly(root: HTMLElement, video: HTMLVideoElement): void {
  const update = () => {
    const isKnown = video.readyState >= HTMLMediaElement.HAVE_METADATA;
    root.classList.toggle('is-audio-only', isKnown && video.videoWidth === 0);
  };
  for (const event of ['loadedmetadata', 'resize', 'emptied'] as const) video.addEventListener(event, update);
}
