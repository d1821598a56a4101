import { execFile } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projectRoot } from '../../scripts/project-files.ts';
import { findNfpm } from '../../scripts/release/find-nfpm.ts';
import { startServerProcess } from '../../scripts/server-process.ts';
import { DebianRoot, debianRootMissing } from '../support/debian-root.ts';
import { playsLive, playsVideo } from '../support/plays.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const run = promisify(execFile);
const missing = findNfpm() === undefined ? 'not installed: nfpm (go install)' : debianRootMissing;
if (missing !== undefined) console.log(`skipped: ${missing}`);

const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
  version: string;
};

let temp: string;
/** A clean clone of what is committed. */
let clone: string;
let out: string;
let again: Promise<string>;
let root: DebianRoot;

describe.skipIf(missing !== undefined)('a release', () => {
  beforeAll(async () => {
    temp = await makeTempDir();
    // Another user of the root reads it.
    chmodSync(temp, 0o755);
    clone = join(temp, 'clone');
    out = join(temp, 'first');
    await run('git', ['clone', '--quiet', projectRoot, clone]);
    const made = DebianRoot.make(join(temp, 'root'));
    const [, ...others] = await Promise.allSettled([release(out), made]);
    for (const other of others) if (other.status === 'rejected') throw other.reason;
    root = await made;
    again = release(join(temp, 'second'), { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8' }, '077');
    again.catch(() => {});
  });
  afterAll(async () => {
    await again?.catch(() => {});
    await root?.remove();
    await removeDir(temp);
  });

  test('has all files, and checksums of them', async () => {
    expect(readdirSync(out).sort()).toEqual([
      'SHA256SUMS',
      `millrace-${version}-linux-arm64.tar.gz`,
      `millrace-${version}-linux-x64.tar.gz`,
      `millrace-${version}.cdx.json`,
      `millrace-${version}.tgz`,
      `millrace_${version}_amd64.deb`,
      `millrace_${version}_arm64.deb`,
    ]);
    await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out });
  });

  test('lists what is in it', () => {
    const bill = JSON.parse(readFileSync(join(out, `millrace-${version}.cdx.json`), 'utf8')) as {
      components: { name: string }[];
    };
    const names = bill.components.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['node', 'ffmpeg', 'ffprobe', 'better-sqlite3', 'preact', 'hls.js', 'koa']),
    );
    expect(names.filter(name => /vitest|darwin|win32/.test(name))).toEqual([]);
  });

  test.each([
    ['x64', 62],
    ['arm64', 183],
  ])('has native files for %s alone', async (architecture, machine) => {
    const folder = join(temp, architecture);
    mkdirSync(folder);
    await run('tar', ['-xzf', archive(architecture), '-C', folder, '--strip-components=1']);
    const native = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map(path => ({ path, machine: machineOf(join(folder, path)) }))
      .filter(({ machine: found }) => found !== undefined);
    expect(native.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        'bin/node',
        `node_modules/better-sqlite3/prebuilds/linux-${architecture}.node`,
      ]),
    );
    expect(native.filter(({ machine: found }) => found !== machine)).toEqual([]);
  });

  test('runs from the archive, without Node and ffmpeg, publishes and plays', async () => {
    mkdirSync(join(root.path, 'opt/millrace'), { recursive: true });
    await run('tar', ['-xzf', archive('x64'), '-C', join(root.path, 'opt/millrace'), '--strip-components=1']);
    await root.run('useradd', '--create-home', '--home-dir', '/srv/viewer', 'viewer');
    await expect(root.run('sh', '-c', 'command -v node ffmpeg')).rejects.toThrow();
    await root.run('sh', '-c', 'cp -r /opt/millrace/bin /tmp/bin && rm /tmp/bin/node');
    await expect(root.run('/tmp/bin/millrace')).rejects.toThrow(
      /\nMillrace needs Node 24\.9 or newer, but [^\n]*\n$/,
    );
    const program = join(temp, 'millrace');
    writeFileSync(
      program,
      `#!/bin/sh\nPATH=/usr/bin:/bin HOME=/srv/viewer exec "$(command -v chroot)" --userspec=viewer '${root.path}' /opt/millrace/bin/millrace "$@"\n`,
      { mode: 0o755 },
    );
    const server = await startServerProcess({ program, cwd: '/', dataDir: '/srv/viewer/data' });
    try {
      expect(server.lines.join('\n')).toMatch(/ffmpeg +n7\.0.* \(\/opt\/millrace\//);
      await playsLive(server);
      await playsVideo(server, temp);
    } finally {
      await server.stop();
    }
  });

  test('has a unit that systemd accepts and calls safe', async () => {
    const unit = '/opt/millrace/packaging/systemd/millrace.service';
    expect(await root.run('systemd-analyze', 'verify', unit)).toBe('');
    await root.run('systemd-analyze', 'security', '--offline=true', '--threshold=29', unit);
  });

  test('installs, upgrades, removes and purges as a Debian package', { timeout: 900_000 }, async () => {
    const newer = await newerPackage();
    const first = join(root.path, 'first.deb');
    await run('cp', [join(out, `millrace_${version}_amd64.deb`), first]);
    await root.run('apt-get', 'update', '-qq');
    await root.run('apt-get', 'install', '-y', '-qq', '--no-install-recommends', 'bubblewrap', '/first.deb');
    expect(await root.run('millrace', 'version')).toBe(`${version}\n`);
    const settings = join(root.path, 'etc/millrace/millrace.env');
    const ownSettings = `MILLRACE_HOST=127.0.0.1\nMILLRACE_FFMPEG_ISOLATION=required\n${['HTTP', 'RTMP', 'SRT', 'WEBRTC'].map(name => `MILLRACE_${name}_PORT=0`).join('\n')}\n`;
    writeFileSync(settings, ownSettings);

    const booted = await root.boot();
    try {
      /** Waits for the service, and returns its ports. */
      const ready = async () => {
        let line: string | undefined;
        await waitUntil(async () => {
          const log = await booted.run('journalctl', '--unit=millrace', '--output=cat', '--no-pager');
          line = log.slice(log.lastIndexOf('Millrace is starting')).match(/^\{.*"event":"ready".*$/m)?.[0];
          return line !== undefined;
        });
        return JSON.parse(line!) as { http: number; rtmp: number };
      };
      const { http, rtmp } = await ready();
      const secrets = await booted.run('cat', '/var/lib/millrace/first-secrets.json');
      const { productionKey } = JSON.parse(secrets) as { productionKey: string };
      const server = { baseUrl: `http://127.0.0.1:${http}`, rtmpPort: rtmp, productionKey };
      await playsLive(server);
      await playsVideo(server, temp);
      expect(await booted.run('systemctl', 'show', '--property=User,KillMode', 'millrace')).toContain(
        'User=millrace',
      );
      expect(await booted.run('millrace', 'account', 'list')).toContain('admin@localhost');

      await booted.run('dpkg', '--install', `/${newer}`);
      expect(await booted.run('millrace', 'version')).toBe(`${version}\n`);
      expect(await booted.run('dpkg', '--status', 'millrace')).toContain(`Version: ${version}+1\n`);
      expect(readFileSync(settings, 'utf8')).toBe(ownSettings);
      await ready();
      expect(await booted.run('systemctl', 'is-active', 'millrace')).toBe('active\n');
      expect(await booted.run('millrace', 'account', 'list')).toContain('admin@localhost');

      await booted.run('dpkg', '--remove', 'millrace');
      await expect(booted.run('systemctl', 'is-active', 'millrace')).rejects.toThrow('inactive');
      expect(existsSync(join(root.path, 'usr/lib/millrace'))).toBe(false);
      expect(readFileSync(settings, 'utf8')).toBe(ownSettings);
      expect(await booted.run('ls', '/var/lib/millrace')).toContain('millrace.db');

      await booted.run('dpkg', '--install', '/first.deb');
      await ready();
      expect(await booted.run('millrace', 'account', 'list')).toContain('admin@localhost');
      await booted.run('dpkg', '--purge', 'millrace');
      for (const path of ['usr/lib/millrace', 'etc/millrace', 'var/lib/millrace'])
        expect(existsSync(join(root.path, path)), path).toBe(false);
      await expect(booted.run('id', 'millrace')).rejects.toThrow('no such user');
    } finally {
      await booted.stop();
    }
  });

  test('has the same bytes each time', async () => {
    await again;
    expect(readFileSync(join(temp, 'second/SHA256SUMS'), 'utf8')).toBe(
      readFileSync(join(out, 'SHA256SUMS'), 'utf8'),
    );
  });

  test('refuses what is not committed, and a folder that exists', async () => {
    await expect(release(out)).rejects.toThrow(/exists: remove it first/);
    writeFileSync(join(clone, 'new.txt'), '');
    await expect(release(join(temp, 'third'))).rejects.toThrow(
      /not: commit or remove them first\.\n\?\? new\.txt/,
    );
    expect(existsSync(join(temp, 'third'))).toBe(false);
  });
});

const archive = (architecture: string) => join(out, `millrace-${version}-linux-${architecture}.tar.gz`);

/** Makes a release of the clone, and returns what it prints. */
async function release(
  folder: string,
  variables: Record<string, string> = {},
  umask = '022',
): Promise<string> {
  const script = `umask ${umask}; exec "$@"`;
  const command = [process.execPath, join(clone, 'scripts/release.ts'), '--out', folder];
  const env = { ...process.env, npm_lifecycle_event: '', ...variables };
  const { stdout } = await run('sh', ['-c', script, 'sh', ...command], { env });
  return stdout;
}

/** Makes the package of a newer version, and returns its path in the root. */
async function newerPackage(): Promise<string> {
  const folder = join(temp, 'newer');
  await run('dpkg-deb', ['--raw-extract', join(out, `millrace_${version}_amd64.deb`), folder]);
  const control = join(folder, 'DEBIAN/control');
  writeFileSync(
    control,
    readFileSync(control, 'utf8').replace(`Version: ${version}`, `Version: ${version}+1`),
  );
  await run('dpkg-deb', ['--build', '-Zgzip', '-z1', folder, join(root.path, 'newer.deb')]);
  return 'newer.deb';
}

/** Returns the architecture that an ELF file is for; undefined for other files. */
function machineOf(path: string): number | undefined {
  const header = Buffer.alloc(20);
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    readSync(file, header);
    return header.toString('latin1', 0, 4) === '\x7fELF' ? header.readUInt16LE(18) : undefined;
  } catch {
    // A folder.
    return undefined;
  } finally {
    closeSync(file);
  }
}
