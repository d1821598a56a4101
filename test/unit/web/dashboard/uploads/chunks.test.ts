import { describe, expect, it } from 'vitest';
import {
  chunkBytesFor,
  countSentBytes,
  missingChunks,
} from '../../../../../src/web/dashboard/uploads/chunks.ts';
import { fileRefusal } from '../../../../../src/web/dashboard/uploads/file-refusal.ts';

describe('missingChunks', () => {
  it.each([
    ['nothing was sent', [], ['0-9', '10-19', '20-24']],
    ['the first chunk is there', [[0, 9]], ['10-19', '20-24']],
    ['a chunk in the middle is there', [[10, 19]], ['0-9', '20-24']],
    [
      'chunks came in any order, and some twice',
      [
        [20, 24],
        [0, 9],
        [0, 9],
      ],
      ['10-19'],
    ],
    ['another client sent a part of the beginning', [[0, 12]], ['13-22', '23-24']],
    ['all is there', [[0, 24]], []],
  ])('%s', (_, received, expected) => {
    const ranges = (received as [number, number][]).map(([from, to]) => ({ from, to }));
    const missing = missingChunks(25, 10, ranges);
    expect(missing.map(({ from, to }) => `${from}-${to}`)).toEqual(expected);
  });

  it('is counted against what was sent', () => {
    expect(countSentBytes(25, missingChunks(25, 10, [{ from: 10, to: 19 }]))).toBe(10);
    expect(countSentBytes(25, [])).toBe(25);
  });
});

describe('files', () => {
  it('are sent in chunks of sizes that the server takes', () => {
    for (const bytes of [1, 1e9, 9e9]) {
      expect(chunkBytesFor(bytes)).toBeGreaterThanOrEqual(5 * 1024 ** 2);
      expect(chunkBytesFor(bytes)).toBeLessThanOrEqual(200 * 1024 ** 2);
    }
  });

  it('are refused before they are sent where the server would', () => {
    const refusal = (size: number) => fileRefusal({ name: 'Film.mp4', size, type: 'video/mp4' });
    expect(refusal(0)).toBe('The file is empty.');
    expect(refusal(1)).toBeUndefined();
    expect(refusal(9_999_999_999)).toBeUndefined();
    expect(refusal(10_000_000_000)).toContain('too large');
  });

  it.each([
    ['Notes.PDF', 'application/pdf', 'a document'],
    ['notes', 'application/pdf', 'a document'],
    ['Photo.HEIC', '', 'an image'],
    ['photo', 'image/jpeg', 'an image'],
    ['Film.en.srt', 'application/x-subrip', 'captions'],
    ['films.zip', '', 'Unpack it'],
    ['.DS_Store', '', 'a file of your system'],
    ['index', 'text/html', 'a web page or code'],
  ])('%s (%s) is refused by what it is', (name, type, text) => {
    expect(fileRefusal({ name, size: 1, type })).toContain(text);
  });

  it.each([
    ['stream.ts', 'text/vnd.trolltech.linguist'],
    ['stream.ts', 'text/plain'],
    ['clip.gif', 'image/gif'],
    ['tape.mxf', ''],
    ['song.mp3', 'audio/mpeg'],
    ['without an ending', ''],
    ['camera.xyz', 'application/octet-stream'],
  ])('%s (%s) may be a video', (name, type) => {
    expect(fileRefusal({ name, size: 1, type })).toBeUndefined();
  });
});
