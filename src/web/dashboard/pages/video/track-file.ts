import { parseVtt } from '../../../player/web-vtt.ts';

/** What was found in a file of captions or chapters. */
export interface TrackContent {
  /** Entries that players will find. */
  readonly cues: number;
  /** Whether it came as SubRip (`.srt`). */
  readonly wasSubRip: boolean;
}

const subRipTimes = /^\d{1,3}:\d{1,2}:\d{1,2}[,.]\d{1,3}[ \t]*-->/gm;

/** Counts the entries of a file that was chosen. The server converts SubRip when it is uploaded. */
export function readTrackFile(text: string): TrackContent {
  const content = text.replace(/^\uFEFF/, '');
  // Without its first line players do not read WebVTT at all.
  if (/^WEBVTT(?:[ \t\r\n]|$)/.test(content)) return { cues: parseVtt(text).length, wasSubRip: false };
  const cues = content.match(subRipTimes)?.length ?? 0;
  return { cues, wasSubRip: cues > 0 };
}
