import { describe, expect, it } from 'vitest';
import {
  type CaptionFile,
  formatCaptionFile,
  parseCaptionFile,
} from '../../../../../src/web/dashboard/pages/captions/caption-file.ts';
import {
  addCue,
  cueAtMs,
  mergeWithNext,
  removeCue,
  setText,
  setTime,
  shiftCues,
  splitCue,
} from '../../../../../src/web/dashboard/pages/captions/cue-edits.ts';
import { checkCues } from '../../../../../src/web/dashboard/pages/captions/cue-faults.ts';
import {
  edited,
  pristine,
  redone,
  undone,
} from '../../../../../src/web/dashboard/pages/captions/edit-history.ts';

const file = parseCaptionFile(`WEBVTT

one
00:01.000 --> 00:03.000 line:0
Hello there

NOTE between

00:04.000 --> 00:05.000
Bye
`)!;
const [first, second] = file.cues.map(({ id }) => id) as [number, number];
const summary = ({ cues }: CaptionFile) => cues.map(({ start, end, text }) => [start, end, text]);

describe('editing cues', () => {
  it('splits at the cursor, in proportion to the texts', () => {
    const split = splitCue(file, first, 5)!;
    expect(summary(split)).toEqual([
      ['0:01', '0:02', 'Hello'],
      ['0:02', '0:03', 'there'],
      ['0:04', '0:05', 'Bye'],
    ]);
    expect(split.cues[1]).toMatchObject({ settings: 'line:0', identifier: undefined });
    expect(new Set(split.cues.map(({ id }) => id)).size).toBe(3);
  });

  it('does not split at an end of the text, nor a cue with invalid times', () => {
    expect(splitCue(file, first, 0)).toBeUndefined();
    expect(splitCue(file, first, 11)).toBeUndefined();
    expect(splitCue(setTime(file, first, 'end', 'soon'), first, 5)).toBeUndefined();
  });

  it('merges with the next cue', () => {
    const merged = mergeWithNext(file, first);
    expect(summary(merged)).toEqual([['0:01', '0:05', 'Hello there\nBye']]);
    expect(merged.cues[0]).toMatchObject({ identifier: 'one', settings: 'line:0', above: ['NOTE between'] });
    expect(mergeWithNext(file, second)).toBe(file);
  });

  it('keeps comments when a cue is deleted', () => {
    expect(formatCaptionFile(removeCue(file, second))).toContain('Hello there\n\nNOTE between\n');
    expect(formatCaptionFile(removeCue(file, first))).toContain('NOTE between\n\n00:04.000');
    expect(removeCue(removeCue(file, first), second).cues).toEqual([]);
  });

  it('adds a cue that ends before the next, after the one that is shown', () => {
    expect(summary(addCue(file, 2_000))[1]).toEqual(['0:03', '0:04', '']);
    expect(summary(addCue(file, 0))[0]).toEqual(['0:00', '0:01', '']);
    expect(summary(addCue(file, 9_000.4))[2]).toEqual(['0:09', '0:11', '']);
  });

  it('shifts all cues, never before the start', () => {
    expect(summary(shiftCues(file, -500)!)[0]).toEqual(['0:00.5', '0:02.5', 'Hello there']);
    expect(shiftCues(file, -1_001)).toBeUndefined();
    const invalid = setTime(file, first, 'end', 'soon');
    expect(summary(shiftCues(invalid, 1_000)!)[0]).toEqual(['0:01', 'soon', 'Hello there']);
  });

  it('finds the cue of a time', () => {
    expect(cueAtMs(file.cues, 1_000)?.id).toBe(first);
    expect(cueAtMs(file.cues, 3_000)).toBeUndefined();
  });
});

describe('checking cues', () => {
  const check = (changed: CaptionFile) => checkCues(changed.cues, 10_000);

  it('finds nothing in a valid file', () => {
    expect(check(file)).toEqual({ faults: new Map(), warnings: new Map() });
  });

  it('finds invalid times, an end before the start, and empty texts', () => {
    expect(check(setTime(file, first, 'start', '1:xx')).faults.get(first)).toEqual({
      start: 'Enter a time such as 1:05.5.',
    });
    expect(check(setTime(file, first, 'end', '0:01')).faults.get(first)).toEqual({
      end: 'The cue must end after it starts.',
    });
    expect(check(setText(file, first, ' \n')).faults.get(first)).toEqual({
      text: 'Enter the text, or delete the cue.',
    });
  });

  it('warns of overlaps, wrong order, and times after the end of the video', () => {
    const warned = (start: string) => check(setTime(file, second, 'start', start)).warnings.get(second);
    expect(warned('2')).toMatch(/^Overlaps/);
    expect(warned('0.5')).toMatch(/^Starts before/);
    expect(warned('10')).toMatch(/^Starts after the end/);
    expect(warned('3')).toBeUndefined();
  });
});

it('undoes edits one by one, and typing in a field at once, and repeats them', () => {
  const start = pristine('a');
  const typed = edited(edited(edited(start, 'ab', 'text'), 'abc', 'text'), 'x');
  expect(typed.past).toEqual(['a', 'abc']);
  expect(undone(typed).value).toBe('abc');
  const back = undone(undone(typed));
  expect(back.value).toBe('a');
  expect(undone(back)).toBe(back);
  expect(redone(back).value).toBe('abc');
  expect(redone(redone(redone(back)))).toEqual({ ...typed, key: undefined });
  // An edit after an undo replaces what was undone.
  expect(redone(edited(back, 'other')).value).toBe('other');
});
