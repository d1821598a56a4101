import { parseVtt } from './web-vtt.ts';

/** A named stretch of the video, in seconds. */
export interface Chapter {
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly name: string;
}

const maxChapters = 200;
/** Of what stands there: the file may hold anything, and looking for marks in it takes its time. */
const maxNameCharacters = 1_000;

/** The chapters of a WebVTT file. Each lasts until the next one begins, whatever the file says of its end. */
export function parseChapters(vtt: string): Chapter[] {
  const cues = parseVtt(vtt)
    .map(cue => ({ ...cue, name: plainText(cue.text.slice(0, maxNameCharacters)) }))
    .filter(cue => cue.name !== '')
    .slice(0, maxChapters);
  return cues.map(({ startSeconds, endSeconds, name }, index) => ({
    startSeconds,
    endSeconds: cues[index + 1]?.startSeconds ?? endSeconds,
    name,
  }));
}

/** A cue's text without its marks. */
function plainText(text: string): string {
  return text
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();
}
