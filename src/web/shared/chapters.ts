import { plainCueText } from '../../media/webvtt/cue-text.ts';
import { parseCues } from '../../media/webvtt/cues.ts';

export interface Chapter {
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly name: string;
}

const maxChapters = 200;
/** Limits the time for untrusted files. */
const maxNameCharacters = 1_000;

export function parseChapters(vtt: string): Chapter[] {
  const cues = parseCues(vtt)
    .map(cue => ({ ...cue, name: nameOf(cue.text.slice(0, maxNameCharacters)) }))
    .filter(cue => cue.name !== '')
    .slice(0, maxChapters);
  return cues.map(({ startMs, endMs, name }, index) => ({
    startSeconds: startMs / 1000,
    endSeconds: (cues[index + 1]?.startMs ?? endMs) / 1000,
    name,
  }));
}

function nameOf(text: string): string {
  return plainCueText(text).replace(/\s+/g, ' ').trim();
}
