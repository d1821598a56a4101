import { execFile } from 'node:child_process';
import {
  access,
  appendFile,
  chmod,
  chown,
  constants,
  mkdir,
  readdir,
  readFile,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { BuildVersionCache } from '../../src/ffmpeg/build/build-version-cache.ts';
import { findBuild } from '../../src/ffmpeg/build/find-build.ts';
import {
  embeddedFfmpeg,
  embeddedFfprobe,
  findFfmpeg,
  findFfprobe,
  withFpsMode,
} from '../../src/ffmpeg/build/find-ffmpeg.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { canRunUnprivileged, unprivilegedUid } from '../support/unprivileged-user.ts';

const current = pathOf(embeddedFfmpeg.current);
const programs = [
  { name: 'ffmpeg' as const, find: findFfmpeg, current, lastResort: embeddedFfmpeg.lastResort() },
  {
    name: 'ffprobe' as const,
    find: findFfprobe,
    current: undefined,
    lastResort: embeddedFfprobe.lastResort(),
  },
];

function pathOf(find: () => string): string | undefined {
  try {
    return find();
  } catch {
    return undefined;
  }
}

/** A folder with a program of that name which answers as `libavformat MAJOR.MINOR` does. */
async function folderWith(
  name: string,
  version: string,
  format: string,
  configuration = '--enable-gpl',
): Promise<string> {
  const folder = join(await testTempDir(), `bin-${version}`);
  await mkdir(folder, { recursive: true });
  const path = join(folder, name);
  await writeFile(
    path,
    `#!/bin/sh\necho '${name} version ${version} Copyright'\necho 'configuration: ${configuration}'\necho 'libavformat    ${format}'\n`,
  );
  await chmod(path, 0o755);
  return folder;
}

test.runIf(current !== undefined)('the embedded ffmpeg reads enhanced RTMP, and lacks nothing', async () => {
  const build = await findFfmpeg(undefined, {});
  expect(build).toMatchObject({
    path: current,
    source: 'embedded',
    canReadEnhancedFlv: true,
    isOutdated: false,
  });
  expect(build.lacks).toEqual([]);
});

describe.runIf(current !== undefined)('beside the embedded ffmpeg', () => {
  const libraries = ['libx264', 'libx265', 'libsvtav1', 'libdav1d', 'libzimg'];
  const complete = libraries.map(library => `--enable-${library}`).join(' ');
  const olderWith = (configuration: string) =>
    folderWith('ffmpeg', '5.1', '59. 27.100 / 59. 27.100', configuration);

  test('an older one of the distribution is preferred', async () => {
    const folder = await olderWith(`--enable-gpl ${complete} --disable-stripping`);
    const path = join(folder, 'ffmpeg');
    const found = await findFfmpeg(undefined, { PATH: folder });
    expect(found).toMatchObject({ path, version: '5.1', source: 'path', lacks: [], isOutdated: false });
    const configured = await findFfmpeg(path, { PATH: folder });
    expect(configured).toMatchObject({ path, source: 'setting' });
    expect(configured.embeddedReason ?? found.embeddedReason).toBeUndefined();
  });

  test.each([
    ...libraries.map(library => [complete.replace(`--enable-${library}`, ''), `without ${library}`]),
    [`${complete} --disable-decoders`, 'with --disable-decoders'],
    [`${complete} --disable-encoder=aac`, 'with --disable-encoder=aac'],
    [`${complete} --disable-everything`, 'with --disable-everything'],
  ])('one that lacks something is not used: %s', async (configuration, reason) => {
    const build = await findFfmpeg(undefined, { PATH: await olderWith(configuration!) });
    expect(build.path).toBe(current);
    expect(build.embeddedReason).toMatch(new RegExp(`^ffmpeg 5\\.1 \\(.*\\) is built ${reason}$`));
  });

  test('a new one is preferred to an older one, and the embedded one to a very old one', async () => {
    const path = await folderWith('ffmpeg', '7.1', '61.  7.100 / 61.  7.100');
    const fresh = await findFfmpeg(undefined, { PATH: `${await olderWith(complete)}:${path}` });
    expect([fresh.path, fresh.embeddedReason]).toEqual([join(path, 'ffmpeg'), undefined]);
    for (const [version, format] of [
      ['4.4', '58. 76.100 / 58. 76.100'],
      ['5.0', '59. 16.100 / 59. 16.100'],
    ] as const) {
      const old = await findFfmpeg(undefined, {
        PATH: await folderWith('ffmpeg', version, format, complete),
      });
      expect([old.path, old.embeddedReason]).toEqual([current, 'ffmpeg 5.1 or newer is not installed']);
    }
  });
});

describe.each(programs)('$name', ({ name, find, current, lastResort }) => {
  test('is the one that was set, whatever its version', async () => {
    const path = join(await folderWith(name, '3.4', '57. 83.100 / 57. 83.100'), name);
    expect(await find(path, {})).toMatchObject({ path, version: '3.4', source: 'setting' });
  });

  test('is the first one on PATH of version 6.1 or newer, else the current embedded one, else the first of version 5', async () => {
    const old = await folderWith(name, '4.4', '58. 76.100 / 58. 76.100');
    const debian = await folderWith(name, '5.1', '59. 27.100 / 59. 27.100');
    const fresh = await folderWith(name, '7.1', '61.  7.100 / 61.  7.100');
    const other = await folderWith(name, '6.1', '60. 16.100 / 60. 16.100');
    const found = async (searchPath: string) => (await find(undefined, { PATH: searchPath })).path;
    expect(await found(`/nowhere:${old}::${debian}:${fresh}:${other}`)).toBe(join(fresh, name));
    expect(await found(`${old}:${debian}`)).toBe(current ?? join(debian, name));
  });

  test('is the newer of an old one on PATH and the last resort where nothing else is', async () => {
    const older = await folderWith(name, '3.4', '57. 83.100 / 57. 83.100');
    const newer = await folderWith(name, '4.9', '58.999.100 / 58.999.100');
    const embedded = {
      current: () => {
        throw new Error('no such package');
      },
      lastResort: () => lastResort,
    };
    const found = (searchPath: string) => findBuild(name, undefined, { PATH: searchPath }, embedded);
    expect(await found(older)).toMatchObject({ path: lastResort, source: 'embedded-static' });
    expect(await found('')).toMatchObject({ path: lastResort, source: 'embedded-static' });
    if (name === 'ffprobe') return;
    expect(await found(`${older}:${newer}`)).toMatchObject({ path: join(newer, name), source: 'path' });
  });

  test.runIf(name === 'ffmpeg')(
    'is asked for the timing of frames by the name that its version has',
    async () => {
      for (const [version, format, hasFpsMode] of [
        ['5.0', '59. 16.100', false],
        ['5.1', '59. 27.100', true],
        ['9.0', '63.  1.101', true],
      ] as const) {
        const path = join(await folderWith(name, version, format), name);
        const build = await findFfmpeg(path, {});
        const option = hasFpsMode ? '-fps_mode' : '-vsync';
        expect(withFpsMode(['-i', 'film', '-vsync', 'vfr'], build)).toEqual(['-i', 'film', option, 'vfr']);
      }
    },
  );

  test('is asked for its version once, and again when its file has changed', async () => {
    const folder = await folderWith(name, '7.1', '61.  7.100');
    const path = join(folder, name);
    const fileOfKnown = join(folder, 'programs.json');
    const askedFile = join(folder, 'asked');
    await appendFile(path, `echo asked >> ${askedFile}\n`);
    const found = async () => {
      const known = await BuildVersionCache.read(fileOfKnown);
      const { version } = await find(undefined, { PATH: folder }, known);
      await known.save();
      const asked = (await readFile(askedFile, 'utf8')).split('\n').length - 1;
      return { version, asked };
    };
    expect(await found()).toEqual({ version: '7.1', asked: 1 });
    expect(await found()).toEqual({ version: '7.1', asked: 1 });
    await writeFile(path, (await readFile(path, 'utf8')).replace('version 7.1', 'version 7.1.9'));
    expect(await found()).toEqual({ version: '7.1.9', asked: 2 });
    await writeFile(fileOfKnown, '{"damaged');
    expect(await found()).toEqual({ version: '7.1.9', asked: 3 });
  });

  test('that was set and does not run is refused by name', async () => {
    const folder = await folderWith(name, 'x', 'nothing');
    for (const path of [join(folder, 'missing'), join(folder, name), dirname(folder)]) {
      await expect(find(path, {})).rejects.toMatchObject({
        code: 'ffmpeg-unusable',
        message: expect.stringMatching(new RegExp(`^${name}.path: ${path} does not run: `)),
      });
    }
  });
});

describe('an embedded program that nobody made executable', () => {
  const noneOnPath = { PATH: '' };

  test('is made executable by its owner', async () => {
    const path = join(await folderWith('ffprobe', '6.0', '60. 3.100 / 60. 3.100'), 'ffprobe');
    await chmod(path, 0o644);
    const found = await findBuild('ffprobe', undefined, noneOnPath, { lastResort: () => path });
    expect(found).toMatchObject({ path, version: '6.0' });
  });

  test.runIf(canRunUnprivileged)('is copied for a user who may only read it', async () => {
    const path = join(await folderWith('ffprobe', '6.0', '60. 3.100 / 60. 3.100'), 'ffprobe');
    await chmod(path, 0o744);
    for (let folder = dirname(path); folder.includes('millrace'); folder = dirname(folder))
      await chmod(folder, 0o755);
    const dataDir = await testTempDir();
    await chown(dataDir, unprivilegedUid, unprivilegedUid);
    const copies = join(dataDir, '.programs');
    const find = async () => {
      const module = new URL('../../src/ffmpeg/build/executable-copy.ts', import.meta.url);
      const script = `const { executableCopy } = await import('${module}'); console.log(await executableCopy('${path}', '${copies}'))`;
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
        uid: unprivilegedUid,
        gid: unprivilegedUid,
        cwd: '/',
      });
      return stdout.trim();
    };
    const copy = await find();
    expect(dirname(copy)).toBe(copies);
    expect(await readFile(copy)).toEqual(await readFile(path));
    await access(copy, constants.X_OK);
    expect(await find()).toBe(copy);

    // Another version replaces the copy.
    await appendFile(path, '# newer\n');
    const newer = await find();
    expect(newer).not.toBe(copy);
    expect(await readdir(copies)).toEqual([newer.slice(copies.length + 1)]);
  });
});
