import { X509Certificate } from 'node:crypto';
import { promises as dns } from 'node:dns';
import { statSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import { checkedSettings } from '../../app/checks.ts';
import { surveyPorts } from '../../app/free-ports.ts';
import { AcmeStore } from '../../certificates/acme.store.ts';
import { describeCertificate as describeOrdered } from '../../certificates/describe-certificate.ts';
import { certificateTimes } from '../../certificates/renewal.ts';
import type { Config } from '../../config/settings.ts';
import { listEncoders } from '../../ffmpeg/build/find-build.ts';
import { findFfmpeg, findFfprobe } from '../../ffmpeg/build/find-ffmpeg.ts';
import { findIsolation } from '../../ffmpeg/process/find-isolation.ts';
import { ProcessLimits } from '../../ffmpeg/process/process-limits.ts';
import { type Finding, failed, ok, skipped } from '../../operations/checks/finding.ts';
import { runChecks } from '../../operations/checks/run-checks.ts';
import {
  type CheckedCertificate,
  type CheckedServer,
  serverChecks,
} from '../../operations/checks/server-checks.ts';
import { systemClock } from '../../shared/clock.ts';
import { messageOf, systemCodeOf } from '../../shared/errors.ts';
import { silentLogger } from '../../shared/logger.ts';
import { classifyAddress } from '../../shared/network/target-address.ts';
import type { Database } from '../../store/database.ts';
import { openDatabaseWithoutLock } from '../../store/open-database.ts';

interface StoppedServer {
  readonly config: Config;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** False beside a server that cannot be asked: its ports are in use. */
  readonly hasFreePorts: boolean;
}

/** Checks what can be checked without the server, with the settings of this command. */
export async function checkStoppedServer(server: StoppedServer, signal: AbortSignal): Promise<Finding[]> {
  const { config, dataDir, hasFreePorts } = server;
  const findings = hasFreePorts ? [await checkFreePorts(config)] : [];
  const { database, finding } = await openDatabase(config, dataDir);
  if (finding !== undefined) findings.push(finding);
  try {
    const checked = await checkedParts(server, database);
    return [...findings, ...(await runChecks(serverChecks(checked), signal))];
  } finally {
    await database?.stop();
  }
}

async function openDatabase(
  config: Config,
  dataDir: string,
): Promise<{ readonly database?: Database; readonly finding?: Finding }> {
  const url = config['database.url'];
  try {
    // Throws where the folder belongs to another user.
    if (
      url === undefined &&
      statSync(join(dataDir, 'millrace.db'), { throwIfNoEntry: false }) === undefined
    ) {
      return { finding: skipped('database', 'There is no database yet. The first start creates it.') };
    }
    return { database: await openDatabaseWithoutLock({ dataDir, url }) };
  } catch (error) {
    return {
      finding: failed('database', messageOf(error), {
        why: 'The server needs it to start, and the other commands to work.',
        mend: 'After an upgrade, start the server once: it migrates the database. Otherwise check MILLRACE_DATABASE_URL, or the data folder.',
      }),
    };
  }
}

async function checkedParts(
  { config, dataDir, env }: StoppedServer,
  database: Database | undefined,
): Promise<CheckedServer> {
  const { 'storage.url': storageUrl, 'tls.cert': certPath, 'tls.key': keyPath } = config;
  const domains = config['tls.domains'];
  const programs = memoized(async () => {
    const [ffmpeg, ffprobe] = await Promise.all([
      findFfmpeg(config['ffmpeg.path'], env),
      findFfprobe(config['ffprobe.path'], env),
    ]);
    return { ffmpeg, ffprobe };
  });
  return {
    ...checkedSettings(config),
    dataDir,
    clock: systemClock,
    database,
    programs,
    encoders: async () => listEncoders((await programs()).ffmpeg.path, env),
    missingIsolation: async () => findMissingIsolation(config, env, await programs()),
    ...(storageUrl === undefined
      ? {}
      : {
          bucket: async () => {
            const { connectS3 } = await import('../../storage/s3/open-s3-storage.ts');
            const { objects } = await connectS3({ url: storageUrl, startPatienceMs: 0, log: silentLogger });
            objects.stop();
          },
        }),
    ...(certPath === undefined || keyPath === undefined
      ? {}
      : { certificate: () => readCertificate(certPath, keyPath) }),
    ...(domains === undefined
      ? {}
      : { certificate: () => readOrderedCertificate(domains, config['tls.acmeDirectory'], database) }),
  };
}

function memoized<Value>(find: () => Promise<Value>): () => Promise<Value> {
  let found: Promise<Value> | undefined;
  return () => {
    found ??= find();
    return found;
  };
}

async function findMissingIsolation(
  config: Config,
  variables: StoppedServer['env'],
  {
    ffmpeg,
    ffprobe,
  }: { ffmpeg: { path: string }; ffprobe: { path: string } } & Awaited<ReturnType<CheckedServer['programs']>>,
): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-doctor-'));
  try {
    const { missing } = await findIsolation({
      setting: config['ffmpeg.isolation'] === 'off' ? 'off' : 'auto',
      limits: await ProcessLimits.find(variables, silentLogger),
      programs: [
        { name: 'ffmpeg', source: 'path', ...ffmpeg },
        { name: 'ffprobe', source: 'path', ...ffprobe },
      ],
      dataDir: folder,
      inWorkFolder: work => work(folder),
      variables,
    });
    return missing;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readCertificate(certPath: string, keyPath: string): Promise<CheckedCertificate> {
  const isRenewed = false;
  try {
    const [cert, key] = await Promise.all([readFile(certPath), readFile(keyPath)]);
    createSecureContext({ cert, key });
    return { expiresAtMs: Date.parse(new X509Certificate(cert).validTo), isRenewed };
  } catch (error) {
    return { problem: `The files of tls.cert and tls.key cannot be used: ${messageOf(error)}.`, isRenewed };
  }
}

/** The certificate that the server has ordered, and whether the names can get another one. */
async function readOrderedCertificate(
  domains: readonly string[],
  directory: string,
  database: Database | undefined,
): Promise<CheckedCertificate> {
  const records = database === undefined ? {} : await new AcmeStore(database, directory).read();
  const { certificate } = records;
  const times = certificate && certificateTimes(certificate.cert);
  const nowMs = systemClock.nowMs();
  const { expiresAtMs, problem } = describeOrdered(records, times, { domains, nowMs });
  const names = await Promise.all(domains.map(findNameProblem));
  const problems = [...names, problem].filter(one => one !== undefined);
  return { expiresAtMs, problem: problems.length === 0 ? undefined : problems.join(' '), isRenewed: true };
}

async function findNameProblem(domain: string): Promise<string | undefined> {
  try {
    const found = (await dns.lookup(domain, { all: true })).map(({ address }) => address);
    if (found.some(address => classifyAddress(address) === 'public')) return undefined;
    return `${domain} leads to ${found.join(', ')}, which exists in your own network only: a public certificate authority cannot reach it.`;
  } catch (error) {
    return `${domain} has no address (${systemCodeOf(error) ?? messageOf(error)}): give it an A or AAAA record with the public address of this server.`;
  }
}

async function checkFreePorts(config: Config): Promise<Finding> {
  const { count, failures } = await surveyPorts(config);
  const facts = { ports: count, unusable: failures.length };
  if (failures.length === 0) return ok('ports', `All ${count} ports are free.`, facts);
  return failed('ports', failures.map(messageOf).join(' '), {
    why: 'The server does not start.',
    mend: '`ss -tulpn` shows the program that uses a port. `millrace start --help` says how to set another one.',
    facts,
  });
}
