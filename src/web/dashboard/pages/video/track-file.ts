import { parseVtt } from '../../../player/web-vtt.ts';

/** What was found in a file of captions or chapters. */
export interface TrackContent {
  /** WebVTT, whatever the file was. */
  readonly vtt: string;
  /** Entries that players will find. */
  readonly cues: number;
  /** Whether it came as SubRip (`.srt`). */
  readonly wasSubRip: boolean;
}

const subRipTime = /^(\d{1,2}:\d{2}:\d{2}),(\d{3})(\s*-->\s*)(\d{1,2}:\d{2}:\d{2}),(\d{3})/gm;

/** Looks into a file that was chosen: SubRip becomes WebVTT, anything else stays as it is. */
export function readTrackFile(text: string): TrackContent {
  const content = text.replace(/^\uFEFF/, '');
  const wasSubRip = !content.startsWith('WEBVTT') && content.search(subRipTime) !== -1;
  const vtt = wasSubRip
    ? `WEBVTT\n\n${content.replace(/\r\n?/g, '\n').replace(subRipTime, '$1.$2$3$4.$5').trim()}\n`
    : text;
  // Without its first line players do not read it at all.
  const isWebVtt = wasSubRip || /^WEBVTT(?:[ \t\r\n]|$)/.test(content);
  return { vtt, cues: isWebVtt ? parseVtt(vtt).length : 0, wasSubRip };
}
