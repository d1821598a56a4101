import type { Chapter } from '../../shared/chapters.ts';

/** Chapters of the text track of that kind. */
export function chaptersOf(textTracks: Iterable<TextTrack>): Chapter[] {
  const track = [...textTracks].find(({ kind }) => kind === 'chapters');
  return ([...(track?.cues ?? [])] as VTTCue[]).map(cue => ({
    startSeconds: cue.startTime,
    endSeconds: cue.endTime,
    name: cue.getCueAsHTML().textContent ?? '',
  }));
}
