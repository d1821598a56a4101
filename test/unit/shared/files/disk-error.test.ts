import { expect, it } from 'vitest';
import { AppError } from '../../../../src/shared/errors.ts';
import { toStartError } from '../../../../src/shared/files/disk-error.ts';
import { testTempDir } from '../../../support/temp-dir.ts';

const coded = (code: string) => Object.assign(new Error(`${code} of a test`), { code });

it.each([
  coded('ENOSPC'),
  coded('SQLITE_FULL'),
  new AppError('database-unusable', 'It cannot be opened: full', { cause: coded('SQLITE_FULL') }),
])('tells that a start failed because the disk is full: %s', async error => {
  const dataDir = await testTempDir();
  expect(await toStartError(error, dataDir)).toMatchObject({
    code: 'disk-full',
    message: expect.stringContaining(`The disk of the data folder ${dataDir} is full. Free some space`),
  });
});

it.each([
  coded('EACCES'),
  new AppError('tls-unusable', 'No certificate', { cause: coded('ENOSPC') }),
  new AppError('database-unusable', 'It is damaged', { cause: coded('SQLITE_CORRUPT') }),
])('leaves other errors of a start as they are: %s', async error => {
  expect(await toStartError(error, await testTempDir())).toBe(error);
});
