/** hls.js steps over holes of this length. */
const maxHoleSeconds = 0.1;

/** Undefined while nothing is buffered at the playhead. */
export function bufferEndAt({ buffered, currentTime }: HTMLVideoElement): number | undefined {
  for (let index = 0; index < buffered.length; index += 1) {
    if (
      currentTime >= buffered.start(index) - maxHoleSeconds &&
      currentTime <= buffered.end(index) + maxHoleSeconds
    )
      return buffered.end(index);
  }
  return undefined;
}
