import type { Clock } from '../../shared/clock.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Connection } from '../../store/connection.ts';
import { askDatabaseTime, readSchemaVersion } from './checks.store.ts';
import { type Finding, failed, ok, skipped, warning } from './finding.ts';
import { describeLatency, type LatencyReport } from './latency-check.ts';
import {
  checkClock,
  checkDataFolder,
  checkDiskSpace,
  checkDiskSpeed,
  checkOpenFiles,
} from './machine-checks.ts';
import { checkOwnUrl } from './public-checks.ts';
import type { Check } from './run-checks.ts';

interface Program {
  readonly path: string;
  readonly version: string;
}

interface FoundFfmpeg extends Program {
  readonly isOutdated: boolean;
  readonly embeddedReason?: string | undefined;
}

/** Subjects of the checks. Without a running server, some are missing. */
export interface CheckedServer {
  readonly dataDir: string;
  /** Public URL of the settings; undefined without one. */
  readonly ownUrl?: string | undefined;
  /** Public URL without one in the settings. */
  readonly defaultUrl?: string | undefined;
  readonly minFreeBytes: number;
  readonly maxConnections: { readonly http: number; readonly rtmp: number };
  readonly clock: Clock;
  /** Faults that `/health/ready` tells. */
  readonly faults?: () => Promise<readonly string[]>;
  readonly database?: Connection | undefined;
  /** Undefined with media in the data folder. Says why the bucket cannot be used. */
  readonly bucket?: (() => Promise<void>) | undefined;
  readonly programs: () => Promise<{ readonly ffmpeg: FoundFfmpeg; readonly ffprobe: Program }>;
  /** Names of the encoders of ffmpeg. */
  readonly encoders: () => Promise<ReadonlySet<string>>;
  /** Codecs beside H.264 that videos are encoded with. */
  readonly codecs: readonly string[];
  readonly hardware?: () => { readonly kind: string; readonly reason?: string | undefined };
  readonly isHardwareWanted: boolean;
  /** Why ffmpeg runs in no sandbox; undefined in one. */
  readonly missingIsolation: () => Promise<string | undefined>;
  /** Undefined without HTTPS. */
  readonly certificate?: (() => CheckedCertificate | Promise<CheckedCertificate>) | undefined;
  readonly latency?: () => LatencyReport;
}

export interface CheckedCertificate {
  /** Undefined before the first one. */
  readonly expiresAtMs?: number | undefined;
  /** Why there is no newer one, and what to do. */
  readonly problem?: string | undefined;
  /** True when the server renews it. */
  readonly isRenewed: boolean;
  /** Host names that it is for. */
  readonly names?: readonly string[] | undefined;
}

const dayMs = 86_400_000;
const latencySamples = 5;
const slowDatabaseMs = 20;
const slowBucketMs = 300;
const maxClockDifferenceMs = 2_000;

export function serverChecks(server: CheckedServer): Check[] {
  const { dataDir, minFreeBytes, faults, database, bucket, hardware, certificate, latency } = server;
  return [
    ...(faults === undefined ? [] : [{ name: 'server' as const, run: () => checkReady(faults) }]),
    { name: 'data-folder', run: () => checkDataFolder(dataDir) },
    { name: 'disk-space', run: () => checkDiskSpace(dataDir, minFreeBytes) },
    { name: 'open-files', run: async () => checkOpenFiles(server.maxConnections) },
    { name: 'clock', run: async () => checkClock() },
    ...(database === undefined
      ? []
      : [{ name: 'database' as const, run: () => checkDatabase(database, server.clock) }]),
    ...(bucket === undefined ? [] : [{ name: 'bucket' as const, run: () => checkBucket(bucket) }]),
    { name: 'ffmpeg', run: () => checkPrograms(server) },
    { name: 'encoders', run: () => checkEncoders(server) },
    ...(hardware === undefined
      ? []
      : [
          {
            name: 'hardware' as const,
            run: async () => describeHardware(hardware(), server.isHardwareWanted),
          },
        ]),
    { name: 'isolation', run: () => checkIsolation(server) },
    ...(certificate === undefined ? [] : certificateChecks(server, certificate)),
    ...(latency === undefined
      ? []
      : [{ name: 'latency' as const, run: async () => describeLatency(latency()) }]),
    ...(server.ownUrl === undefined
      ? []
      : [{ name: 'http' as const, run: (signal: AbortSignal) => checkOwnUrl(server.ownUrl!, signal) }]),
    // Last: it keeps the disk busy.
    { name: 'disk-speed', run: () => checkDiskSpeed(dataDir, minFreeBytes) },
  ];
}

function certificateChecks(
  { clock, defaultUrl }: CheckedServer,
  certificate: NonNullable<CheckedServer['certificate']>,
): Check[] {
  return [
    { name: 'certificate', run: async () => describeCertificate(await certificate(), clock.nowMs()) },
    ...(defaultUrl === undefined
      ? []
      : [{ name: 'name' as const, run: async () => describeDefaultUrl(defaultUrl, await certificate()) }]),
  ];
}

/** @param url leads to this machine only, since none is set */
export function describeDefaultUrl(url: string, { names = [] }: CheckedCertificate): Finding {
  const { hostname, port } = new URL(url);
  const [name] = names.filter(known => known !== hostname);
  if (name === undefined) return skipped('name', 'The server has no public URL.');
  return warning('name', `Links and embed codes begin with ${url}, and the certificate is for ${name}.`, {
    why: 'They open on this machine only, with a warning of the browser.',
    mend: `MILLRACE_PUBLIC_URL=https://${name}${port === '' ? '' : `:${port}`}`,
  });
}

async function checkReady(faults: NonNullable<CheckedServer['faults']>): Promise<Finding> {
  const found = await faults();
  if (found.length === 0) return ok('server', 'The server is ready.');
  return failed('server', `The server is not ready: ${found.join('; ')}.`, {
    why: 'Load balancers send it no requests, and some requests fail.',
    mend: 'Mend what the other findings say, or wait until a start, a stop or a drain has ended. The log has each change (not-ready).',
  });
}

async function checkDatabase(database: Connection, clock: Clock): Promise<Finding> {
  const times: number[] = [];
  let differenceMs = 0;
  for (let sample = 0; sample < latencySamples; sample += 1) {
    const beginMs = performance.now();
    const databaseMs = await askDatabaseTime(database, clock);
    const tookMs = performance.now() - beginMs;
    times.push(tookMs);
    differenceMs = databaseMs - (clock.nowMs() - tookMs / 2);
  }
  const ms = times.sort((a, b) => a - b)[latencySamples >> 1]!;
  const finding = describeDatabase(database.dialect, ms, differenceMs);
  return { ...finding, facts: { ...finding.facts, schema: await readSchemaVersion(database) } };
}

export function describeDatabase(dialect: Connection['dialect'], ms: number, differenceMs: number): Finding {
  const name = dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL';
  const text = `${name} answers within ${ms.toFixed(1)} ms.`;
  const facts = { ms, differenceMs };
  if (dialect === 'postgres' && Math.abs(differenceMs) > maxClockDifferenceMs) {
    const seconds = Math.round(Math.abs(differenceMs) / 1_000);
    return warning(
      'database',
      `${text} Its clock is ${seconds} s ${differenceMs < 0 ? 'behind' : 'ahead of'} the one here.`,
      {
        why: 'Leases and jobs follow the clock of the database, and tokens and certificates the one here.',
        mend: 'On both machines: timedatectl set-ntp true',
        facts,
      },
    );
  }
  if (ms <= slowDatabaseMs) return ok('database', text, facts);
  return warning('database', text, {
    why: 'A request of the API needs several answers, and a broadcast starts late.',
    mend:
      dialect === 'sqlite'
        ? 'Move the data folder to a local SSD (MILLRACE_DATA_DIR), and see "Disk speed".'
        : 'Run PostgreSQL in the same network as this server. `ping` to its host tells how far it is.',
    facts,
  });
}

async function checkBucket(bucket: NonNullable<CheckedServer['bucket']>): Promise<Finding> {
  const beginMs = performance.now();
  try {
    await bucket();
  } catch (error) {
    return failed('bucket', `The bucket cannot be used: ${messageOf(error)}.`, {
      why: 'Uploads and results of jobs cannot be stored, and viewers get only what is in the cache.',
      mend: 'Check MILLRACE_STORAGE_URL, the permissions of its key, and that its endpoint can be reached from here.',
    });
  }
  const ms = performance.now() - beginMs;
  const text = `The bucket answers within ${ms.toFixed(0)} ms.`;
  if (ms <= slowBucketMs) return ok('bucket', text, { ms });
  return warning('bucket', text, {
    why: 'Viewers of files that are not in the cache wait, and recordings are stored late.',
    mend: 'Use a bucket in a region near this server, and enlarge storage.cacheSize.',
    facts: { ms },
  });
}

async function checkPrograms({ programs }: CheckedServer): Promise<Finding> {
  const { ffmpeg, ffprobe } = await programs().catch((error: unknown) => ({
    ffmpeg: messageOf(error),
    ffprobe: undefined,
  }));
  const mend =
    'apt install ffmpeg, or another current build with MILLRACE_FFMPEG_PATH and MILLRACE_FFPROBE_PATH';
  if (typeof ffmpeg === 'string') {
    return failed('ffmpeg', ffmpeg, { why: 'The server does not start without one.', mend });
  }
  const text = `ffmpeg ${ffmpeg.version} (${ffmpeg.path}), ffprobe ${ffprobe?.version} (${ffprobe?.path}).`;
  const facts = {
    version: Number(/\d+(\.\d+)?/.exec(ffmpeg.version)?.[0] ?? 0),
    isOutdated: ffmpeg.isOutdated,
    isEmbedded: ffmpeg.embeddedReason !== undefined,
  };
  if (ffmpeg.isOutdated) {
    const why = 'It is too old to decode media of strangers safely, and has no SRT and no GPU encoders.';
    return warning('ffmpeg', text, { why, mend, facts });
  }
  if (ffmpeg.embeddedReason !== undefined) {
    const why = `The embedded one gets no security updates, and is in use because ${ffmpeg.embeddedReason}.`;
    return warning('ffmpeg', text, { why, mend, facts });
  }
  return ok('ffmpeg', text, facts);
}

const encodersOfCodecs: Readonly<Record<string, string>> = { hevc: 'libx265', av1: 'libsvtav1' };

async function checkEncoders({ encoders, codecs }: CheckedServer): Promise<Finding> {
  const found = await encoders();
  const needed = ['libx264', 'aac', ...codecs.flatMap(codec => encodersOfCodecs[codec] ?? [])];
  const missing = needed.filter(name => !found.has(name));
  const facts = { found: found.size, missing: missing.length };
  if (missing.length === 0) return ok('encoders', `ffmpeg has ${needed.join(', ')}.`, facts);
  return failed('encoders', `ffmpeg lacks ${missing.join(', ')}.`, {
    why: 'Videos and renditions of live streams that need it fail.',
    mend: 'apt install ffmpeg, or remove the codec from encode.codecs',
    facts,
  });
}

export function describeHardware(
  { kind, reason }: { readonly kind: string; readonly reason?: string | undefined },
  isWanted: boolean,
): Finding {
  if (kind !== 'software')
    return ok('hardware', `${kind} encodes.${reason === undefined ? '' : ` ${reason}.`}`, {
      isHardware: true,
    });
  const facts = { isHardware: false };
  if (!isWanted)
    return ok('hardware', `x264 encodes: ${lowerFirst(reason ?? 'no hardware encoder found')}.`, facts);
  return warning(
    'hardware',
    `The hardware encoder cannot be used: ${lowerFirst(reason ?? 'none was found')}.`,
    {
      why: 'x264 encodes in its place, which takes many times the processor time.',
      mend: 'Install its driver, pass its device to the container (--device /dev/dri, or --gpus all), and check MILLRACE_ENCODE_HARDWARE_DEVICE.',
      facts,
    },
  );
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

async function checkIsolation({ missingIsolation }: CheckedServer): Promise<Finding> {
  const missing = await missingIsolation();
  if (missing === undefined) {
    return ok('isolation', 'ffmpeg and ffprobe read media in a sandbox (bubblewrap).', { isActive: true });
  }
  return warning('isolation', `ffmpeg runs in no sandbox: ${missing}.`, {
    why: 'A damaged or hostile upload that takes over ffmpeg could read the files of the server.',
    mend: 'apt install bubblewrap, leave ffmpeg.isolation at auto, and restart the server. For containers and kernels that forbid it: "Isolation" in docs/operating.md.',
    facts: { isActive: false },
  });
}

const soonDays = 14;

export function describeCertificate(
  { expiresAtMs, problem, isRenewed }: CheckedCertificate,
  nowMs: number,
): Finding {
  const days = expiresAtMs === undefined ? undefined : Math.floor((expiresAtMs - nowMs) / dayMs);
  const facts = { isRenewed, hasProblem: problem !== undefined, ...(days === undefined ? {} : { days }) };
  const mend = isRenewed
    ? 'Do what the finding says. The server tries again by itself, and at once after a restart with other settings.'
    : 'Renew the files of tls.cert and tls.key: the server reads them again by itself. Or set MILLRACE_TLS_DOMAINS, so that it orders certificates.';
  const why = "Browsers, encoders and Apple's players refuse the connection.";
  if (days === undefined) {
    return isRenewed && problem === undefined
      ? skipped('certificate', 'There is no certificate yet. The server orders the first one by itself.')
      : failed('certificate', problem ?? 'The certificate could not be read.', { why, mend, facts });
  }
  if (days < 0)
    return failed('certificate', problem ?? `It expired ${-days} days ago.`, { why, mend, facts });
  if (problem !== undefined)
    return warning('certificate', problem, { why: `In ${days} days: ${why}`, mend, facts });
  if (days < soonDays && !isRenewed) {
    return warning('certificate', `It expires in ${days} days.`, { why: `After that: ${why}`, mend, facts });
  }
  return ok('certificate', `It is valid for ${days} days${isRenewed ? ', and renewed before' : ''}.`, facts);
}
