import { parseVtt } from './web-vtt.ts';

export interface Chapter {
  readonly startSeconds: number;
  readonly endSeconds: number;
  readonly name: string;
}

const maxChapters = 200;
/** Limits the time for untrusted files. */
const maxNameCharacters = 1_000;

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
