import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { measureFiles } from '../../../src/operations/usage/measure-files.ts';
import { dayOf, formatDay } from '../../../src/shared/day.ts';
import { DataFolderStorage } from '../../../src/storage/data-folder-storage.ts';
import { testTempDir } from '../../support/temp-dir.ts';

describe('a day of traffic', () => {
  it.each([
    ['2026-03-04T00:00:00.000Z', '2026-03-04'],
    ['2026-03-04T23:59:59.999Z', '2026-03-04'],
    ['1970-01-01T00:00:00.000Z', '1970-01-01'],
  ])('of %s is %s', (instant, date) => {
    expect(formatDay(dayOf(Date.parse(instant)))).toBe(date);
  });
});

/** Measures a folder with one file, or a folder with one file in it. */
async function kindOf(name: string, isRecording: boolean): Promise<string | undefined> {
  const folder = await testTempDir();
  const isFolder = name === 'mp4' || name.startsWith('hls-');
  if (isFolder) mkdirSync(join(folder, name));
  writeFileSync(isFolder ? join(folder, name, 'media.mp4') : join(folder, name), 'x');
  const measured = Object.entries(await measureFiles(new DataFolderStorage(folder), folder, isRecording));
  return measured.find(([, bytes]) => bytes > 0)?.[0];
}

describe('the files of a video', () => {
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
  ])('%s counts as %s', async (name, kind) => {
    expect(await kindOf(name, false)).toBe(kind);
  });

  it('count the source of a recording as a recording', async () => {
    expect(await kindOf('source', true)).toBe('recordingBytes');
    expect(await kindOf('hls-1', true)).toBe('hlsBytes');
  });
});
