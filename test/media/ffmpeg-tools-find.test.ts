import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { embeddedFfmpegPath, findFfmpeg } from '../../src/ffmpeg/find-ffmpeg.ts';
import { embeddedFfprobePath, findFfprobe } from '../../src/ffmpeg/find-ffprobe.ts';
import { tempDirOfTest } from '../support/temp-dir.ts';

const programs = [
  { name: 'ffmpeg', find: findFfmpeg, embedded: embeddedFfmpegPath() },
  { name: 'ffprobe', find: findFfprobe, embedded: embeddedFfprobePath() },
];

/** A folder with a program of that name which answers as `libavformat MAJOR.MINOR` does. */
async function folderWith(name: string, version: string, format: string): Promise<string> {
  const folder = join(await tempDirOfTest(), 'bin');
  await mkdir(folder);
  const path = join(folder, name);
  await writeFile(
    path,
    `#!/bin/sh\necho '${name} version ${version} Copyright'\necho 'libavformat    ${format}'\n`,
  );
  await chmod(path, 0o755);
  return folder;
}

describe.each(programs)('$name', ({ name, find, embedded }) => {
  test('is the one that was set, whatever its version', async () => {
    const path = join(await folderWith(name, '3.4', '57. 83.100 / 57. 83.100'), name);
    expect(await find(path, undefined)).toMatchObject({ path, version: '3.4', source: 'setting' });
  });

  test('is the first one on PATH that is new enough', async () => {
    const old = await folderWith(name, '4.4', '58. 76.100 / 58. 76.100');
    const fresh = await folderWith(name, '7.1', '61.  7.100 / 61.  7.100');
    expect(await find(undefined, `/nowhere:${old}::${fresh}`)).toMatchObject({
      path: join(fresh, name),
      version: '7.1',
      source: 'path',
    });
  });

  test('is the embedded one where PATH has none that is new enough', async () => {
    const old = await folderWith(name, '4.4', '58. 76.100 / 58. 76.100');
    expect(await find(undefined, old)).toMatchObject({ path: embedded, source: 'embedded' });
    expect(await find(undefined, undefined)).toMatchObject({ path: embedded, source: 'embedded' });
  });

  test('that was set and does not run is refused by name', async () => {
    const folder = await folderWith(name, 'x', 'nothing');
    for (const path of [join(folder, 'missing'), join(folder, name), dirname(folder)]) {
      await expect(find(path, undefined)).rejects.toMatchObject({
        code: 'ffmpeg-unusable',
        message: expect.stringMatching(new RegExp(`^${name}.path: ${path} does not run: `)),
      });
    }
  });
});
