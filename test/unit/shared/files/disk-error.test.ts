import { expect, it } from 'vitest';
import { AppError } from '../../../../src/shared/errors.ts';
import { toMachineError, toStartError } from '../../../../src/shared/files/disk-error.ts';
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

it.each([
  ['disk-full', ['ENOSPC', 'EDQUOT', 'SQLITE_FULL']],
  ['out-of-resources', ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'SQLITE_CANTOPEN', 'SQLITE_NOMEM']],
] as const)('tells faults of the machine from those of files: %s', (code, causes) => {
  for (const cause of causes) expect(toMachineError(coded(cause))).toMatchObject({ code });
  const other = coded('EIO');
  expect(toMachineError(other)).toBe(other);
});
