import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Header, Pax } from 'tar';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newId } from '../../src/shared/ids.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { runCommand, startCommand } from '../support/backup-command.ts';
import { runSql } from '../support/sql.ts';
import { startApi, type TestApi } from '../support/start-api.ts';
import { makeTempDir, removeDir, testTempDir } from '../support/temp-dir.ts';
import { canRunUnprivileged, unprivilegedUid } from '../support/unprivileged-user.ts';
import { waitUntil } from '../support/wait-until.ts';
import { chunkBytes, noise, UploadsOfTest } from './upload-fixture.ts';

/** Size that exceeds a pipe and the buffers around it. */
const manyBytes = 8 * 1024 * 1024;
const film = Buffer.alloc(manyBytes, 'film');

let server: TestApi;
let streamKey: string;
beforeAll(async () => {
  server = await startApi();
  streamKey = (await server.call('POST', '/live-streams', { body: { name: 'Pier' } })).json.streamKey;
});
afterAll(() => server.stop());

const fromServer = (...args: string[]) => [...args, `--dataDir=${server.dataDir}`];
/** A video with a source, as far as its files and rows matter here. */
async function makeVideo(): Promise<string> {
  const id = (await server.call('POST', '/videos', { body: { title: 'Harbour' } })).json.videoId;
  place(server.dataDir, `vod/${id}/source`, film);
  return id;
}
function place(folder: string, name: string, content: string | Buffer): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
const left = (folder: string) => readdirSync(folder).filter(name => name.startsWith('.backup-'));
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** An archive with these files, as `npm run backup` would write it; the sums fit unless a test says otherwise. */
function archiveOf(
  files: readonly { name: string; content?: string | Buffer; type?: 'File' | 'SymbolicLink' | 'Link' }[],
  { sums, facts = { format: 1 } }: { sums?: string; facts?: object } = {},
): Buffer {
  const description = { name: 'millrace-backup.json', content: JSON.stringify(facts) };
  const all = [description, ...files];
  const lines = all.map(({ name, content = '' }) => `${sha256(content)}  ${name}\n`).join('');
  return Buffer.concat([
    ...[...all, { name: 'SHA256SUMS', content: sums ?? lines }].flatMap(file => entryOf(file)),
    Buffer.alloc(1024),
  ]);
}
function entryOf(file: { name: string; content?: string | Buffer; type?: 'File' | 'SymbolicLink' | 'Link' }) {
  const { name: path, content = '', type = 'File' } = file;
  const bytes = Buffer.from(content);
  const facts = {
    path,
    type,
    size: bytes.length,
    mode: 0o600,
    mtime: new Date(),
    linkpath: type === 'File' ? '' : '/etc',
  };
  const header = new Header(facts);
  const pax = header.encode() ? [new Pax({ path }).encode()] : [];
  return [...pax, header.block!, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
}
async function restoreFile(archive: Buffer) {
  const folder = await testTempDir();
  const path = join(folder, 'a.tar');
  const dataDir = join(folder, 'data');
  writeFileSync(path, archive);
  const result = await runCommand('restore', path, `--dataDir=${dataDir}`);
  return { ...result, folder, dataDir };
}

describe('a backup of a running server', () => {
  it('holds the database and all files but scratch, with checksums, for its user only; its restore is the same data folder', async () => {
    const folder = await testTempDir();
    const id = await makeVideo();
    const longName = `notes/${'ä'.repeat(80)}/${'n'.repeat(120)}.txt`;
    const kept = {
      [`vod/${id}/hls-1/240p.mp4`]: 'rendition',
      [`uploads/${newId('vi')}/0`]: 'chunk',
      [`live/${newId('li')}/thumbnail`]: 'image',
      [`players/${newId('pl')}/logo-1.png`]: 'logo',
      [newId('watermarks/watermark_' as never)]: 'watermark',
      'first-secrets.json': '{}',
      [longName]: 'of the operator',
    };
    const scratch = [
      'incoming/1',
      'work/2/out.mp4',
      `live/${newId('li')}/br1/video-1/chunk-1.m4s`,
      `vod/${id}/source.partial`,
      `vod/${id}/.removed-3/x`,
      'vod/.removed-4/source',
      'lost+found/5',
    ];
    for (const [name, content] of Object.entries(kept)) place(server.dataDir, name, content);
    for (const name of scratch) place(server.dataDir, name, 'scratch');
    utimesSync(join(server.dataDir, 'vod', id, 'source'), 1_700_000_000, 1_700_000_000);
    symlinkSync('/etc/hostname', join(server.dataDir, 'vod', id, 'link'));

    const file = join(folder, 'backup.tar');
    const { code, stderr } = await runCommand('backup', ...fromServer(file));
    expect([code, stderr]).toEqual([
      0,
      `Data folder: ${server.dataDir}\nWarning: 1 entries of the data folder are neither files nor folders, and are not in the backup: vod/${id}/link.\n` +
        `Backed up ${Object.keys(kept).length + 2} files, ${/[\d.]+ MB/.exec(stderr)?.[0]}, to ${file}.\n`,
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect([readdirSync(folder), left(server.dataDir)]).toEqual([['backup.tar'], []]);

    const dataDir = join(folder, 'new/data');
    const restored = await runCommand('restore', file, `--dataDir=${dataDir}`);
    expect([restored.code, restored.stderr]).toEqual([0, '']);
    const names = readdirSync(dataDir, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && entry.name !== 'millrace.lock')
      .map(entry => join(entry.parentPath, entry.name).slice(dataDir.length + 1));
    expect(names.sort()).toEqual([...Object.keys(kept), `vod/${id}/source`, 'millrace.db'].sort());
    for (const [name, content] of Object.entries(kept)) {
      expect(readFileSync(join(dataDir, name), 'utf8'), name).toBe(content);
    }
    expect(readFileSync(join(dataDir, 'vod', id, 'source')).equals(film)).toBe(true);
    expect(statSync(join(dataDir, 'vod', id, 'source')).mtimeMs).toBe(1_700_000_000_000);
    for (const name of names) expect(statSync(join(dataDir, name)).mode & 0o077, name).toBe(0);

    const again = await startApi({ dataDir });
    onTestFinished(() => again.stop());
    const streams = (await again.call('GET', '/live-streams')).json.data;
    expect(streams.map((stream: { streamKey: string }) => stream.streamKey)).toEqual([streamKey]);
    rmSync(join(server.dataDir, 'vod', id, 'link'));
  });

  it('keeps files that are deleted while it is written, and refuses a second backup meanwhile', async () => {
    const [id, other] = [await makeVideo(), await makeVideo()];
    const backup = startCommand('backup', fromServer('-'), { isPaused: true });
    await waitUntil(() =>
      left(server.dataDir).some(name => existsSync(join(server.dataDir, name, 'vod', other))),
    );
    const second = await runCommand('backup', ...fromServer(join(server.dataDir, '../none.tar')));
    expect([second.code, second.stderr]).toEqual([
      1,
      `Data folder: ${server.dataDir}\nAnother backup of ${server.dataDir} is running. Wait until it has finished.\n`,
    ]);
    // The database was copied once there is output.
    await waitUntil(() => (backup.child.stdout!.readableLength > 0 ? true : undefined));
    for (const video of [id, other])
      expect((await server.call('DELETE', `/videos/${video}`)).status).toBe(204);
    backup.child.stdout!.resume();
    const { code, stdout } = await backup.ended;
    expect([code, left(server.dataDir)]).toEqual([0, []]);
    const { code: restored, dataDir } = await restoreFile(stdout);
    expect(restored).toBe(0);
    for (const video of [id, other]) {
      expect(readFileSync(join(dataDir, 'vod', video, 'source')).equals(film)).toBe(true);
    }
    const again = await startApi({ dataDir });
    onTestFinished(() => again.stop());
    expect((await again.call('GET', `/videos/${id}`)).status).toBe(200);
  });

  it('removes all that it has written when it is interrupted, and the next one what a killed one has left', async () => {
    await makeVideo();
    for (const [signal, isClean] of [
      ['SIGINT', true],
      ['SIGKILL', false],
    ] as const) {
      const backup = startCommand('backup', fromServer('-'), { isPaused: true });
      await waitUntil(() => (backup.child.stdout!.readableLength > 0 ? true : undefined));
      backup.child.kill(signal);
      backup.child.stdout!.resume();
      const ended = await backup.ended;
      expect(left(server.dataDir).length === 0, signal).toBe(isClean);
      if (isClean)
        expect([ended.code, ended.stderr]).toEqual([
          130,
          `Data folder: ${server.dataDir}\nInterrupted. Incomplete files were removed.\n`,
        ]);
    }
    const folder = await testTempDir();
    expect((await runCommand('backup', ...fromServer(join(folder, 'a.tar')))).code).toBe(0);
    expect(left(server.dataDir)).toEqual([]);
  });

  it.skipIf(!canRunUnprivileged)('names the other user whose killed backup has left its lock', async () => {
    const dataDir = await testTempDir();
    const uid = unprivilegedUid;
    for (const name of ['millrace.db', 'backup.lock']) place(dataDir, name, '');
    for (const path of [dataDir, join(dataDir, 'millrace.db')]) chownSync(path, uid, uid);
    chmodSync(join(dataDir, 'backup.lock'), 0o600);
    const { code, stderr } = await startCommand('backup', ['-', `--dataDir=${dataDir}`], { uid }).ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(
        `backup.lock belongs to user 0, and this process runs as user ${uid}. Run "chown -R ${uid} ${dataDir}"`,
      ),
    ]);
  });

  it('takes the pieces of an upload that is under way, which goes on where it is restored', async () => {
    const [first, second] = [noise(chunkBytes), noise(1_000)];
    const total = first.length + second.length;
    const uploads = new UploadsOfTest(() => server);
    const id = await uploads.video();
    expect((await uploads.send(id, first, `bytes 0-${chunkBytes - 1}/${total}`)).status).toBe(201);
    const { stdout } = await runCommand('backup', ...fromServer('-'));
    const { dataDir } = await restoreFile(stdout);
    const again = await startApi({ dataDir });
    onTestFinished(() => again.stop());
    const there = new UploadsOfTest(() => again);
    expect((await there.send(id, second, `bytes ${chunkBytes}-${total - 1}/${total}`)).status).toBe(201);
    const source = join(dataDir, 'vod', id, 'source');
    await waitUntil(() => existsSync(source));
    expect(readFileSync(source).equals(Buffer.concat([first, second]))).toBe(true);
  });

  it('replaces no file unless it is forced to, and is not written into the data folder', async () => {
    const folder = await testTempDir();
    const file = join(folder, 'a.tar');
    writeFileSync(file, 'old');
    const refused = await runCommand('backup', ...fromServer(file));
    expect([refused.code, refused.stderr]).toEqual([
      1,
      `Data folder: ${server.dataDir}\nThe file ${file} already exists. Choose another name, or overwrite it with --force.\n`,
    ]);
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect((await runCommand('backup', ...fromServer(file, '--force', '--database-only'))).code).toBe(0);
    const { stdout } = await runCommand('restore', file, '--check');
    expect(stdout.toString()).toMatch(/^The backup of \S+ is intact: 1 files, /);
    const inside = await runCommand('backup', ...fromServer(join(server.dataDir, 'a.tar')));
    expect([inside.code, inside.stderr]).toEqual([1, expect.stringMatching('is in the data folder')]);
    expect(readdirSync(server.dataDir).filter(name => /^(?:a\.tar|backup)/.test(name))).toEqual([]);
    const directory = await runCommand('backup', ...fromServer(folder, '--force'));
    expect([directory.code, directory.stderr]).toEqual([
      1,
      expect.stringMatching('is a folder. Enter the path of a file in it'),
    ]);
    const missing = await runCommand('restore', join(folder, 'none.tar'));
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringMatching('does not exist')]);
    const empty = await runCommand('backup', join(folder, 'b.tar'), `--dataDir=${folder}`);
    expect([empty.code, empty.stderr]).toEqual([1, expect.stringMatching('There is no database in')]);
    expect(readdirSync(folder)).toEqual(['a.tar']);
  });

  it('follows a folder of the data folder that is on another disk', async ({ skip }) => {
    if (!existsSync('/dev/shm') || statSync('/dev/shm').dev === statSync(server.dataDir).dev) skip();
    const disk = join('/dev/shm', `millrace-test-${process.pid}`);
    try {
      place(disk, 'cert.pem', 'certificate');
      symlinkSync(disk, join(server.dataDir, 'tls'));
      const { code, stdout, stderr } = await runCommand('backup', ...fromServer('-'));
      expect([code, stderr]).toEqual([0, expect.not.stringMatching('Warning')]);
      expect([readdirSync(disk), left(server.dataDir)]).toEqual([['cert.pem'], []]);
      const { dataDir } = await restoreFile(stdout);
      expect(readFileSync(join(dataDir, 'tls/cert.pem'), 'utf8')).toBe('certificate');
    } finally {
      rmSync(join(server.dataDir, 'tls'), { force: true });
      await removeDir(disk);
    }
  });

  it('warns where files are missing that the database counts on', async () => {
    const { database } = server;
    const id = await makeVideo();
    const run = (sql: string) => runSql(database, sql, id);
    await run(
      "INSERT INTO video_sources (video_id, origin, form, status, bytes, started_at_ms) VALUES (?, 'upload', 'plain', 'uploaded', 9, 1)",
    );
    await run(
      "INSERT INTO video_thumbnails (video_id, choice, file) VALUES (?, 'default', 'thumbnail-1.jpg')",
    );
    await run(
      "INSERT INTO renditions (video_id, type, quality, position, status, progress_percent, file, facts) VALUES (?, 'hls', '240p', 0, 'encoded', 100, 'hls-1/240p.mp4', '{}')",
    );
    const { code, stderr } = await runCommand('backup', ...fromServer('-'));
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/\nWarning: The database refers to files .* Files are missing for 1 videos\.\n/),
    ]);
    await server.call('DELETE', `/videos/${id}`);
  });
});

describe('a restore', () => {
  let folder: string;
  let archive: Buffer;
  beforeAll(async () => {
    folder = await makeTempDir();
    await makeVideo();
    place(server.dataDir, 'notes/one.txt', 'one');
    archive = (await runCommand('backup', ...fromServer('-'))).stdout;
    writeFileSync(join(folder, 'a.tar'), archive);
  });
  afterAll(() => removeDir(folder));

  it('refuses a running server and a folder that is not empty, and changes neither', async () => {
    const running = await runCommand('restore', join(folder, 'a.tar'), `--dataDir=${server.dataDir}`);
    expect([running.code, running.stderr]).toEqual([
      1,
      expect.stringMatching(/in use by another process\. Stop the server/),
    ]);
    const dataDir = await testTempDir();
    writeFileSync(join(dataDir, 'mine'), 'x');
    const full = await runCommand('restore', join(folder, 'a.tar'), `--dataDir=${dataDir}`);
    expect([full.code, full.stderr]).toEqual([1, expect.stringMatching(/is not empty: it contains "mine"/)]);
    expect(readdirSync(dataDir).sort()).toEqual(['millrace.lock', 'mine']);
  });

  it('that is killed leaves a folder that no server starts on, and the next restore begins anew', async () => {
    const dataDir = await testTempDir();
    const restore = startCommand('restore', ['-', `--dataDir=${dataDir}`], { hasInput: true });
    restore.child.stdin!.on('error', () => {});
    restore.child.stdin!.write(archive.subarray(0, archive.length - 2048));
    await waitUntil(() => existsSync(join(dataDir, 'vod')));
    restore.child.kill('SIGKILL');
    expect((await restore.ended).signal).toBe('SIGKILL');
    await expect(openDatabase({ dataDir })).rejects.toThrow(/restore into the data folder .* did not finish/);
    const again = await runCommand('restore', join(folder, 'a.tar'), `--dataDir=${dataDir}`);
    expect([again.code, again.stderr]).toEqual([0, '']);
    await (await openDatabase({ dataDir })).stop();
  });

  it('that is interrupted leaves an empty folder', async () => {
    const dataDir = await testTempDir();
    const restore = startCommand('restore', ['-', `--dataDir=${dataDir}`], { hasInput: true });
    restore.child.stdin!.on('error', () => {});
    restore.child.stdin!.write(archive.subarray(0, 64 * 1024));
    await waitUntil(() => existsSync(join(dataDir, 'millrace.db')));
    restore.child.kill('SIGTERM');
    expect((await restore.ended).code).toBe(143);
    expect(readdirSync(dataDir)).toEqual(['millrace.lock']);
  });

  it.each([
    ['cut in a file', () => archive.subarray(0, 1_000_000), /truncated: it ends at byte 1000000/],
    ['cut before its checksums', () => archive.subarray(0, archive.indexOf('SHA256SUMS')), /truncated/],
    ['empty', () => Buffer.alloc(0), /truncated: it ends at byte 0/],
    ['of another kind', () => Buffer.alloc(4096, 'text'), /damaged at byte 0/],
    [
      'changed in a file',
      () => changed(archive, archive.indexOf('one', archive.indexOf('notes/one.txt') + 400)),
      /the checksum of notes\/one\.txt does not match/,
    ],
    [
      'changed in a header',
      () => changed(archive, archive.indexOf('notes/one.txt')),
      /tar header is invalid/,
    ],
  ])('refuses a backup that is %s, and leaves an empty folder', async (_name, make, message) => {
    const { code, stderr, dataDir } = await restoreFile(make());
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(readdirSync(dataDir)).toEqual(['millrace.lock']);
    const path = join(dataDir, '../a.tar');
    const check = await runCommand('restore', path, '--check');
    expect([check.code, check.stderr]).toEqual([1, expect.stringMatching(message)]);
  });

  it.each([
    ['a name that leads out of the folder', '../outside', /an unexpected file: "\.\.\/outside"/],
    ['a name that leads out of a folder in it', 'vod/../../outside', /an unexpected file/],
    ['an absolute name', '/tmp/outside', /an unexpected file/],
    ['an empty part of a name', 'vod//x', /an unexpected file/],
    ['a journal of the database', 'millrace.db-wal', /an unexpected file/],
    ['the marker of restores', 'restore-unfinished', /an unexpected file/],
    ['the database twice', 'millrace.db', /millrace\.db twice/],
    ['a name that is too long', `${'d/'.repeat(600)}x`, /an unexpected file/],
  ])('writes nothing for an archive with %s', async (_what, name, message) => {
    const {
      code,
      stderr,
      folder: parent,
      dataDir,
    } = await restoreFile(
      archiveOf([
        { name: 'millrace.db', content: 'x' },
        { name, content: 'evil' },
      ]),
    );
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect([readdirSync(parent).sort(), readdirSync(dataDir)]).toEqual([
      ['a.tar', 'data'],
      ['millrace.lock'],
    ]);
  });

  it('refuses links, checksums that are missing, other formats, and what is no database', async () => {
    const cases: [Buffer, RegExp][] = [
      [archiveOf([{ name: 'vod', type: 'SymbolicLink' }]), /not a regular file \(SymbolicLink\)/],
      [archiveOf([{ name: 'vod', type: 'Link' }]), /not a regular file \(Link\)/],
      [
        archiveOf([{ name: 'millrace.db' }], { sums: '' }),
        /the checksum of millrace-backup\.json is missing/,
      ],
      [archiveOf([{ name: 'notes/x' }]), /millrace\.db is missing/],
      [
        archiveOf([], { facts: { format: 2, version: '9.0.0' } }),
        /format 2, .* Restore it with the version that created it, 9\.0\.0/,
      ],
      [archiveOf([{ name: 'millrace.db', content: 'text' }]), /The database is damaged/],
      [archiveOf([{ name: 'millrace.db', content: '' }]), /The database is damaged: it has no tables/],
    ];
    for (const [bytes, message] of cases) {
      const { code, stderr, dataDir } = await restoreFile(bytes);
      expect([code, stderr]).toEqual([1, expect.stringMatching(message)]);
      expect(readdirSync(dataDir)).toEqual(['millrace.lock']);
    }
  });

  it('and a backup name their usage when they are not understood', async () => {
    for (const name of ['backup', 'restore'] as const) {
      for (const args of [[], ['a', 'b'], ['a', '--fast']]) {
        const { code, stderr } = await runCommand(name, ...args);
        expect([code, stderr]).toEqual([
          2,
          expect.stringMatching(`^[^\n]*\\. See "npm run ${name} -- --help"\\.\n$`),
        ]);
      }
    }
  });
});

function changed(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1;
  return copy;
}
