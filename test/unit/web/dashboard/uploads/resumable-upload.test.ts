import { describe, expect, it } from 'vitest';
import {
  describeMismatch,
  parseResumableUploads,
  type ResumableUpload,
} from '../../../../../src/web/dashboard/uploads/resumable-upload.ts';

const remembered: ResumableUpload = {
  videoId: 'vi1',
  accountId: 'ac1',
  environment: 'sandbox',
  title: 'Film',
  fileName: 'Film.mp4',
  fileBytes: 25_000_000,
  lastModified: 1_700_000_000_000,
  chunkBytes: 8_388_608,
  fingerprint: 'ab',
};
const { fingerprint: _, ...unseen } = remembered;
const file = { name: 'Film.mp4', size: 25_000_000, lastModified: 1_700_000_000_000 };

describe('parseRemembered', () => {
  it('reads what was kept', () => {
    expect(parseResumableUploads(JSON.stringify([remembered, unseen]))).toEqual([remembered, unseen]);
  });

  it.each([
    [undefined],
    [''],
    ['{'],
    ['null'],
    ['[null, 1, "x", {}]'],
    [JSON.stringify([{ ...remembered, environment: 'other' }])],
    [JSON.stringify([{ ...remembered, chunkBytes: 0 }])],
    [JSON.stringify([{ ...remembered, fileBytes: '1' }])],
  ])('leaves out what nobody wrote: %s', text => {
    expect(parseResumableUploads(text)).toEqual([]);
  });
});

describe('the file of an interrupted upload', () => {
  it.each([
    ['the same', remembered, file, 'ab', undefined],
    [
      'the same under another name',
      remembered,
      { ...file, name: 'Copy.mp4', lastModified: 1 },
      'ab',
      undefined,
    ],
    ['of another size', remembered, { ...file, size: 1_000 }, 'ab', 'is a different file'],
    [
      'of the same size with other bytes',
      remembered,
      file,
      'cd',
      'has the same size, but is a different file',
    ],
    ['the same as far as can be told', unseen, file, undefined, undefined],
    ['of another name, unseen', remembered, { ...file, name: 'x.mp4' }, undefined, 'is a different file'],
    ['changed, unseen', unseen, { ...file, lastModified: 1 }, 'ab', 'was changed'],
  ])('%s', (_name, entry, chosen, fingerprint, reason) => {
    const said = describeMismatch(entry as ResumableUpload, chosen, fingerprint);
    if (reason === undefined) expect(said).toBeUndefined();
    else expect(said).toContain(reason);
  });
});
