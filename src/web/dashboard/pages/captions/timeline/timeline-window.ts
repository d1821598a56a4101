import type { Cue } from '../caption-file.ts';

/** Lengths that a window can have. The longest is 2 minutes, so that little audio is decoded at once. */
export const spans = [5, 10, 30, 60, 120] as const;

/** Width of an edge of a cue that can be dragged. */
const edgePixels = 8;
const minCueMs = 100;

/** Returns the start of the window that shows a time. It stays until the time leaves it, like a page that is turned. */
export function windowStart(start: number, span: number, seconds: number, duration: number): number {
  const isShown = seconds >= start && seconds < start + span;
  const wanted = isShown ? start : seconds - span / 10;
  return Math.max(0, Math.min(wanted, Math.max(0, duration - span)));
}

/** The cue of which an edge is near a place. Of two that meet, the one on the side of the place. */
export function edgeAt(
  cues: readonly Cue[],
  ms: number,
  msPerPixel: number,
): { readonly cue: Cue; readonly edge: 'start' | 'end' } | undefined {
  let nearest: { cue: Cue; edge: 'start' | 'end'; distance: number } | undefined;
  for (const cue of cues) {
    for (const edge of ['start', 'end'] as const) {
      const offset = edge === 'start' ? ms - cue.startMs : cue.endMs - ms;
      // Inside counts as nearer.
      const distance = Math.abs(offset) + (offset < 0 ? msPerPixel : 0);
      if (!(Math.abs(offset) <= edgePixels * msPerPixel)) continue;
      if (nearest === undefined || distance < nearest.distance) nearest = { cue, edge, distance };
    }
  }
  return nearest;
}

/** Keeps a cue from ending before it starts. */
export function draggedMs({ startMs, endMs }: Cue, edge: 'start' | 'end', ms: number): number {
  const rounded = Math.max(0, Math.round(ms / 10) * 10);
  return edge === 'start' ? Math.min(rounded, endMs - minCueMs) : Math.max(rounded, startMs + minCueMs);
}
