import { expect, test } from 'vitest';
import { toDiskError } from '../../../../src/shared/files/disk-error.ts';

test.each(['ENOSPC', 'EDQUOT', 'SQLITE_FULL', '53100'])('tells of a full disk for %s', code => {
  const cause = Object.assign(new Error('no room'), { code });
  expect(toDiskError(cause)).toMatchObject({ code: 'disk-full', cause });
});

test('leaves other errors alone', () => {
  const error = Object.assign(new Error('no such file'), { code: 'ENOENT' });
  expect(toDiskError(error)).toBe(error);
});
