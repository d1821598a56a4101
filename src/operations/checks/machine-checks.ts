import { existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemCodeOf } from '../../shared/errors.ts';
import { missingDescriptors, readDescriptorLimit } from '../../shared/files/descriptor-limit.ts';
import { newUuid } from '../../shared/ids.ts';
import { formatBytes } from '../../shared/text/format-bytes.ts';
import { readDisk } from '../server-state/machine.ts';
import { type Finding, failed, ok, skipped, warning } from './finding.ts';

const lowDiskFactor = 3;
const lowDiskShare = 0.05;
const mebibyte = 1024 ** 2;
const writtenBlocks = 32;
const syncedWrites = 20;
const maxTestMs = 3_000;
/** Eight recordings of 20 Mbit/s. */
const minBytesPerSecond = 20e6;
/** Each transaction waits for it. */
const maxSyncMs = 50;

/** @param minFreeBytes uploads are refused below it */
export async function checkDiskSpace(folder: string, minFreeBytes: number): Promise<Finding> {
  const { totalBytes, freeBytes } = await readDisk(nearestFolder(folder));
  const facts = { totalBytes, freeBytes, minFreeBytes };
  const text = `${formatBytes(freeBytes)} of ${formatBytes(totalBytes)} are free on the disk of the data folder.`;
  const mend = 'Delete videos, shorten their retention, or enlarge the disk. `df -h` shows what is full.';
  if (freeBytes < minFreeBytes) {
    const why = `Below ${formatBytes(minFreeBytes)} (uploads.minFree), uploads and encodes are refused.`;
    return failed('disk-space', text, { why, mend, facts });
  }
  if (freeBytes < minFreeBytes * lowDiskFactor || freeBytes < totalBytes * lowDiskShare) {
    const why = `Uploads are refused below ${formatBytes(minFreeBytes)}, and recordings end soon after.`;
    return warning('disk-space', text, { why, mend, facts });
  }
  return ok('disk-space', text, facts);
}

/** Returns the folder itself, or before the first start the one above it. */
function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

/** Writes a file that nobody else can see, and that is gone with this process. */
export async function checkDiskSpeed(folder: string, minFreeBytes: number): Promise<Finding> {
  if (!existsSync(folder)) return skipped('disk-speed', 'The data folder does not exist yet.');
  const { freeBytes } = await readDisk(folder);
  if (freeBytes < Math.max(minFreeBytes, writtenBlocks * 2 * mebibyte))
    return skipped('disk-speed', 'Too little space is free to write a test file.');
  const path = join(folder, `.speed-${newUuid()}`);
  const file = await open(path, 'wx', 0o600);
  try {
    await rm(path);
    const block = Buffer.alloc(mebibyte);
    // Disks that compress do not shrink these.
    for (let at = 0; at < block.length; at += 4) block.writeUInt32LE(Math.random() * 2 ** 32, at);
    const startedAtMs = performance.now();
    let blocks = 0;
    while (blocks < writtenBlocks && performance.now() - startedAtMs < maxTestMs) {
      await file.write(block);
      blocks += 1;
    }
    await file.datasync();
    const bytesPerSecond = Math.round((blocks * mebibyte * 1_000) / (performance.now() - startedAtMs));
    const syncs: number[] = [];
    const syncsFromMs = performance.now();
    while (syncs.length < syncedWrites && performance.now() - syncsFromMs < maxTestMs) {
      const beginMs = performance.now();
      await file.write(block, 0, 4_096);
      await file.datasync();
      syncs.push(performance.now() - beginMs);
    }
    return describeSpeed(bytesPerSecond, syncs.sort((a, b) => a - b)[Math.floor(syncs.length / 2)] ?? 0);
  } finally {
    await file.close();
  }
}

export function describeSpeed(bytesPerSecond: number, syncMs: number): Finding {
  const text = `Writes ${formatBytes(bytesPerSecond)} per second, and takes ${syncMs.toFixed(1)} ms to make a change durable.`;
  const facts = { bytesPerSecond, syncMs };
  if (bytesPerSecond >= minBytesPerSecond && syncMs <= maxSyncMs) return ok('disk-speed', text, facts);
  const why =
    bytesPerSecond < minBytesPerSecond
      ? 'Live segments, recordings and uploads share this speed: broadcasts stall when it is used up.'
      : 'Each change of the database waits for this: the API is slow, and starts and ends of broadcasts are late.';
  const mend =
    'Move the data folder to an SSD (MILLRACE_DATA_DIR), and keep it off network file systems. `iostat -x 1` shows what else uses the disk.';
  return warning('disk-speed', text, { why, mend, facts });
}

export function checkOpenFiles(
  connections: { readonly http: number; readonly rtmp: number },
  limit = readDescriptorLimit(),
): Finding {
  if (limit === undefined) return skipped('open-files', 'This system does not tell its limit.');
  const missing = missingDescriptors(limit, connections);
  const shown = limit === Number.POSITIVE_INFINITY ? 'Any number of' : limit.toLocaleString('en');
  const facts = { limit: Math.min(limit, Number.MAX_SAFE_INTEGER) };
  if (missing === undefined) return ok('open-files', `${shown} files may be open.`, facts);
  return warning(
    'open-files',
    `${shown} files may be open, but all allowed connections need ${missing.needed.toLocaleString('en')}.`,
    {
      why: 'Each viewer and encoder is an open file: further ones cannot connect, and recordings fail.',
      mend: 'systemd: LimitNOFILE=65536 in the unit. Docker: --ulimit nofile=65536. Shell: ulimit -n 65536 before the start. Or lower http.maxConnections and rtmp.maxConnections.',
      facts: { ...facts, needed: missing.needed },
    },
  );
}

const syncedMark = '/run/systemd/timesync/synchronized';
const timeServices = ['/run/chrony', '/run/chronyd.pid', '/run/ntpd.pid', '/run/ntpsec'];
const containerMarks = ['/.dockerenv', '/run/.containerenv'];

/** Looks for a service that sets the clock. @param exists replaced by tests */
export function checkClock(exists: (path: string) => boolean = existsSync): Finding {
  if (exists(syncedMark)) return ok('clock', 'A time service sets the clock (systemd-timesyncd).');
  if (timeServices.some(exists)) return ok('clock', 'A time service runs.');
  if (containerMarks.some(exists) || !exists('/run/systemd/system'))
    return skipped(
      'clock',
      'It cannot be seen from here whether a time service (NTP) sets the clock.',
      'On the host: timedatectl',
    );
  return warning('clock', 'No time service (NTP) sets the clock.', {
    why: 'A wrong clock breaks certificates, signed playback, two-factor codes and requests to S3.',
    mend: 'timedatectl set-ntp true',
  });
}

/** @param folder may be missing before the first start */
export async function checkDataFolder(folder: string): Promise<Finding> {
  const path = join(folder, `.write-${newUuid()}`);
  try {
    const file = await open(path, 'wx', 0o600);
    await rm(path);
    await file.close();
    return ok('data-folder', 'The data folder can be written.');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT')
      return skipped('data-folder', 'The data folder does not exist yet. The first start creates it.');
    const uid = process.getuid?.();
    return failed(
      'data-folder',
      `The data folder cannot be written (${systemCodeOf(error) ?? 'unknown reason'}).`,
      {
        why: 'The server keeps its database, videos and recordings there, and does not start.',
        mend:
          systemCodeOf(error) === 'EACCES' && uid !== undefined
            ? `chown -R ${uid} DATA_FOLDER, or run this command as the user of the server.`
            : 'Mount the disk for writing, or name another folder with MILLRACE_DATA_DIR.',
      },
    );
  }
}
