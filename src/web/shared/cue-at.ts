/** `cues` are sorted by start. */
export function cueAt<Cue extends { readonly startSeconds: number; readonly endSeconds: number }>(
  cues: readonly Cue[],
  seconds: number,
): Cue | undefined {
  let low = 0;
  let high = cues.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cues[middle]!.startSeconds <= seconds) low = middle + 1;
    else high = middle;
  }
  const cue = cues[low - 1];
  return cue !== undefined && seconds < cue.endSeconds ? cue : undefined;
}
