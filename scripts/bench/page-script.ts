import { clockImage } from './clock-picture.ts';

/** Measurements of `bench.watchClock` in the page. */
export interface Watched {
  readonly latenciesMs: number[];
  /** Pictures whose clock could not be read. */
  readonly unreadable: number;
  /** `waiting` and `stalled` events. */
  readonly stalls: number;
  readonly seeks: number;
  readonly droppedFrames: number;
  readonly maxPauseMs: number;
}

const { barWidth, barHeight } = clockImage;

/**
 * Code that the benches run inside the player page:
 *
 * - `bench.firstPictureAt` is a promise of the wall-clock time at which the first picture is shown.
 * - `bench.waitForFirstPicture()` resolves with the wall-clock time at which the next picture is shown.
 * - `bench.watchClock(seconds)` reads the clock in every picture that is shown and resolves with a {@link Watched}.
 */
export const pageScript = `
{
  // The video of the player is in a shadow root, which the script of the page makes.
  const findVideo = (root = document) => {
    const found = root.querySelector('video');
    if (found !== null) return found;
    for (const { shadowRoot } of root.querySelectorAll('*')) {
      const inside = shadowRoot === null ? null : findVideo(shadowRoot);
      if (inside !== null) return inside;
    }
    return null;
  };
  const { createElement } = Document.prototype;
  let onPicture;
  const firstPictureAt = new Promise(resolve => { onPicture = resolve; });
  // The controls make videos that are never shown, to see what the browser can do.
  const onVideo = video => video.requestVideoFrameCallback(() => onPicture(Date.now()));
  Document.prototype.createElement = function (...options) {
    const element = createElement.apply(this, options);
    if (element.localName === 'video') onVideo(element);
    return element;
  };
  document.addEventListener('DOMContentLoaded', () => {
    const video = findVideo();
    if (video !== null) onVideo(video);
  });

globalThis.bench = {
  firstPictureAt,

  waitForFirstPicture: () =>
    new Promise(resolve => {
      findVideo().requestVideoFrameCallback(() => resolve(Date.now()));
    }),

  watchClock: seconds => {
    const video = findVideo();
    const canvas = document.createElement('canvas');
    canvas.width = ${barWidth * 40};
    canvas.height = 1;
    const context = canvas.getContext('2d', { willReadFrequently: true });
    const watched = { latenciesMs: [], unreadable: 0, stalls: 0, seeks: 0, droppedFrames: 0, maxPauseMs: 0 };
    for (const event of ['waiting', 'stalled']) video.addEventListener(event, () => (watched.stalls += 1));
    video.addEventListener('seeking', () => (watched.seeks += 1));
    const readClock = () => {
      context.drawImage(video, 0, ${barHeight / 2}, canvas.width, 1, 0, 0, canvas.width, 1);
      const pixels = context.getImageData(0, 0, canvas.width, 1).data;
      const bytes = [0, 0, 0, 0, 0];
      for (let bar = 0; bar < 40; bar += 1) {
        bytes[bar >> 3] = bytes[bar >> 3] * 2 + (pixels[(bar * ${barWidth} + ${barWidth / 2}) * 4] > 127 ? 1 : 0);
      }
      const [a, b, c, d, sum] = bytes;
      return (a + b + c + d) % 256 === sum ? ((a * 256 + b) * 256 + c) * 256 + d : undefined;
    };
    const droppedBefore = video.getVideoPlaybackQuality().droppedVideoFrames;
    const endMs = performance.now() + seconds * 1000;
    let lastMs = performance.now();
    return new Promise(resolve => {
      const finish = () => {
        watched.maxPauseMs = Math.max(watched.maxPauseMs, performance.now() - lastMs);
        watched.droppedFrames = video.getVideoPlaybackQuality().droppedVideoFrames - droppedBefore;
        resolve(watched);
      };
      // Without a picture, nothing else ends it.
      setTimeout(finish, (seconds + 5) * 1000);
      const onPicture = () => {
        const shownMs = Date.now();
        const nowMs = performance.now();
        watched.maxPauseMs = Math.max(watched.maxPauseMs, nowMs - lastMs);
        lastMs = nowMs;
        const madeMs = readClock();
        if (madeMs === undefined) watched.unreadable += 1;
        else watched.latenciesMs.push((shownMs % 2 ** 32) - madeMs);
        if (nowMs < endMs) {
          video.requestVideoFrameCallback(onPicture);
          return;
        }
        finish();
      };
      video.requestVideoFrameCallback(onPicture);
    });
  },
};
}
`;
