import type { TimeSlice } from '../../shared/scheduling/time-slice.ts';
import type { SpokenSegment, TimedText } from './transcription-client.ts';

const maxLineWidth = 42;
const maxLines = 2;
const minCueMs = 1_000;
const maxCueMs = 7_000;
/** A pause after which the next words are another cue. */
const pauseMs = 1_500;
/** A sentence that is longer has its own cue. */
const minSentenceWidth = 24;
const sentenceEnd = /[.!?\u2026\u3002\uff01\uff1f]["\u201d\u2019\xbb)]?$/u;
/** East Asian characters that are twice as wide as others. */
const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** One that cannot be divided. `text` ends with a space if one follows. */
type Token = TimedText;

/** Divides what was spoken into cues of at most two lines and 1 to 7 s, without overlaps. @param segments sorted by start */
export async function cuesOf(segments: readonly SpokenSegment[], slice: TimeSlice): Promise<TimedText[]> {
  const cues: TimedText[] = [];
  let open: Token[] = [];
  const close = () => {
    if (open.length > 0) cues.push(cueOf(open));
    open = [];
  };
  for (const segment of segments) {
    const [first] = open;
    const last = open.at(-1);
    if (first !== undefined && last !== undefined) {
      const isShort = last.endMs - first.startMs < minCueMs;
      if (!isShort || segment.startMs - last.endMs > pauseMs) close();
    }
    for (const token of tokensOf(segment)) {
      if (!fits(open, token)) close();
      open.push(token);
      await slice.yieldIfOver();
    }
  }
  close();
  return withoutOverlaps(cues);
}

function tokensOf({ text, startMs, endMs, words }: SpokenSegment): Token[] {
  const spelled = words.filter(word => word.text !== '');
  const parts = text
    .split(' ')
    .flatMap(word => divided(word).map((part, index, all) => (index === all.length - 1 ? `${part} ` : part)));
  // Words of the model lack punctuation at times: they count only where they are the text.
  const isSame = spelled.length === parts.length;
  const total = parts.reduce((sum, part) => sum + part.length, 0) || 1;
  let before = 0;
  return parts.map((part, index) => {
    const from = startMs + ((endMs - startMs) * before) / total;
    before += part.length;
    const to = startMs + ((endMs - startMs) * before) / total;
    const word = isSame ? spelled[index] : undefined;
    return { text: part, startMs: Math.round(word?.startMs ?? from), endMs: Math.round(word?.endMs ?? to) };
  });
}

const wordSegmenter = new Intl.Segmenter('und', { granularity: 'word' });

/** Languages without spaces, and what is longer than half a line. */
function divided(word: string): string[] {
  if (widthOf(word) <= maxLineWidth / 2) return [word];
  const parts: string[] = [];
  for (const { segment, isWordLike } of wordSegmenter.segment(word)) {
    const last = parts.at(-1);
    if (last !== undefined && isWordLike === false && widthOf(last + segment) <= maxLineWidth) {
      parts[parts.length - 1] = last + segment;
    } else parts.push(...(segment.match(/.{1,20}/gsu) ?? []));
  }
  return parts;
}

function fits(open: readonly Token[], next: Token): boolean {
  const [first] = open;
  const last = open.at(-1);
  if (first === undefined || last === undefined) return true;
  if (next.endMs - first.startMs > maxCueMs || next.startMs - last.endMs > pauseMs) return false;
  const text = open.map(token => token.text).join('');
  if (sentenceEnd.test(text.trim()) && widthOf(text) >= minSentenceWidth) return false;
  return linesOf([...open, next]) !== undefined;
}

function cueOf(tokens: readonly Token[]): TimedText {
  const lines = linesOf(tokens) ?? [
    tokens
      .map(({ text }) => text)
      .join('')
      .trim(),
  ];
  return { startMs: tokens[0]!.startMs, endMs: tokens.at(-1)!.endMs, text: lines.join('\n') };
}

/** Breaks a cue into at most two lines of about the same width. Undefined: they do not fit. */
function linesOf(tokens: readonly Token[]): string[] | undefined {
  const text = tokens
    .map(token => token.text)
    .join('')
    .trim();
  if (widthOf(text) <= maxLineWidth) return [text];
  if (widthOf(text) > maxLines * (maxLineWidth + 1)) return undefined;
  let best: { readonly lines: string[]; readonly difference: number } | undefined;
  for (let at = 1; at < tokens.length; at++) {
    const lines = [tokens.slice(0, at), tokens.slice(at)].map(part =>
      part
        .map(token => token.text)
        .join('')
        .trim(),
    );
    const widths = lines.map(widthOf);
    if (Math.max(...widths) > maxLineWidth) continue;
    const difference = Math.abs(widths[0]! - widths[1]!);
    if (best === undefined || difference < best.difference) best = { lines, difference };
  }
  return best?.lines;
}

/** Short cues stay until the next one, or move it. */
function withoutOverlaps(cues: readonly TimedText[]): TimedText[] {
  let freeMs = 0;
  return cues.map((cue, index) => {
    const startMs = Math.max(cue.startMs, freeMs);
    const nextMs = cues[index + 1]?.startMs ?? Number.POSITIVE_INFINITY;
    const endMs = Math.min(startMs + maxCueMs, Math.max(startMs + minCueMs, Math.min(cue.endMs, nextMs)));
    freeMs = endMs;
    return { ...cue, startMs, endMs };
  });
}

function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += wide.test(character) ? 2 : 1;
  return width;
}
