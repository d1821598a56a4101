import { describe, expect, it } from 'vitest';
import { storageKindOf } from '../../../src/operations/usage/measure-files.ts';
import { dayOf, formatDay } from '../../../src/shared/day.ts';

describe('a day of traffic', () => {
  it.each([
    ['2026-03-04T00:00:00.000Z', '2026-03-04'],
    ['2026-03-04T23:59:59.999Z', '2026-03-04'],
    ['1970-01-01T00:00:00.000Z', '1970-01-01'],
  ])('of %s is %s', (instant, date) => {
    expect(formatDay(dayOf(Date.parse(instant)))).toBe(date);
  });
});

describe('what the files of a video are counted as', () => {
  it.each([
    ['source', 'sourceBytes'],
    ['source.partial', 'sourceBytes'],
    ['recording-12.mp4', 'recordingBytes'],
    ['hls-65000000', 'hlsBytes'],
    ['mp4', 'mp4Bytes'],
    ['thumbnail-6f1d1c52-6f0e-4a0e-9c58-0a1a3e2b4c5d.jpg', 'imageBytes'],
    ['storyboard.jpg', 'imageBytes'],
    ['watermark', 'imageBytes'],
    ['storyboard.vtt', 'textBytes'],
    ['captions-fr-CA-6f1d1c52-6f0e-4a0e-9c58-0a1a3e2b4c5d.vtt', 'textBytes'],
    ['chapters-en-6f1d1c52-6f0e-4a0e-9c58-0a1a3e2b4c5d.vtt', 'textBytes'],
    ['source.partial.tag', undefined],
    ['.removed-6f1d1c52-6f0e-4a0e-9c58-0a1a3e2b4c5d', undefined],
    ['notes.txt', undefined],
  ])('%s: %s', (name, kind) => {
    expect(storageKindOf(name, false)).toBe(kind);
  });

  it('counts the source of a recording as one', () => {
    expect(storageKindOf('source', true)).toBe('recordingBytes');
    expect(storageKindOf('hls-1', true)).toBe('hlsBytes');
  });
});
