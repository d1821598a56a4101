import { describe, expect, it } from 'vitest';
import { TimeSlice } from '../../../../src/shared/scheduling/time-slice.ts';
import { cuesOf } from '../../../../src/vod/transcripts/transcript-cues.ts';
import type { SpokenSegment } from '../../../../src/vod/transcripts/transcription-client.ts';
import { allowedBlockMs, maxBlockMsOf } from '../../../support/event-loop-block.ts';

const cuesOfAll = (segments: readonly SpokenSegment[]) => cuesOf(segments, new TimeSlice(5));
const segment = (startMs: number, endMs: number, text: string) => ({ startMs, endMs, text, words: [] });
const widths = (text: string) => text.split('\n').map(line => line.length);

describe('cues of a transcript', () => {
  it('divide long segments into lines of at most 42 characters, at most two and 7 s in a cue, in order', async () => {
    const text = Array.from({ length: 60 }, (_, index) => `harbour${index}`).join(' ');
    const cues = await cuesOfAll([segment(1_000, 61_000, text)]);
    expect(cues.length).toBeGreaterThan(7);
    for (const [index, cue] of cues.entries()) {
      expect(widths(cue.text).length).toBeLessThanOrEqual(2);
      expect(Math.max(...widths(cue.text))).toBeLessThanOrEqual(42);
      expect(cue.endMs - cue.startMs).toBeGreaterThanOrEqual(1_000);
      expect(cue.endMs - cue.startMs).toBeLessThanOrEqual(7_000);
      expect(cue.startMs).toBeGreaterThanOrEqual(cues[index - 1]?.endMs ?? 0);
    }
    expect(cues.map(cue => cue.text.replaceAll('\n', ' ')).join(' ')).toBe(text);
  });

  it('begin with the words of the model where it tells their times', async () => {
    const words = ['Boats', 'leave', 'at', 'five.'].map((text, index) => {
      const startMs = index < 2 ? 1_000 * index : 5_000 + 1_000 * index;
      return { text, startMs, endMs: startMs + 500 };
    });
    const cues = await cuesOfAll([{ startMs: 0, endMs: 9_000, text: 'Boats leave at five.', words }]);
    expect(cues).toEqual([
      { startMs: 0, endMs: 1_500, text: 'Boats leave' },
      { startMs: 7_000, endMs: 8_500, text: 'at five.' },
    ]);
  });

  it('stay a second, join what is shorter, and never overlap', async () => {
    const cues = await cuesOfAll([
      segment(0, 300, 'One'),
      segment(400, 700, 'two'),
      segment(5_000, 5_100, 'Three.'),
      segment(4_900, 9_000, 'Four.'),
    ]);
    expect(cues[0]).toEqual({ startMs: 0, endMs: 1_000, text: 'One two' });
    for (const [index, cue] of cues.entries()) {
      expect(cue.startMs).toBeGreaterThanOrEqual(cues[index - 1]?.endMs ?? 0);
    }
  });

  it('of hours of speech are made without blocking', async () => {
    const hours = Array.from({ length: 5_000 }, (_, index) =>
      segment(4_000 * index, 4_000 * index + 3_900, 'The harbour wakes, and boats leave one after another.'),
    );
    const blockedMs = await maxBlockMsOf(async () => {
      const cues = await cuesOfAll([...hours, segment(20_000_000, 20_600_000, 'a '.repeat(2_500).trim())]);
      expect(cues.length).toBeGreaterThan(5_000);
    });
    expect(blockedMs).toBeLessThan(allowedBlockMs);
  });

  it('break languages without spaces', async () => {
    const cues = await cuesOfAll([
      segment(
        0,
        14_000,
        '港の朝は早く船が次々と出ていき空が少しずつ明るくなると人々が岸に集まって話し始めます'.repeat(2),
      ),
    ]);
    for (const { text } of cues) expect(Math.max(...widths(text))).toBeLessThanOrEqual(21);
  });
});
