import type { Config } from '../config/settings.ts';
import type { Finding } from '../operations/checks/finding.ts';
import type { Probe } from '../operations/checks/probe.ts';
import { operatorCommand } from '../shared/installation.ts';
import type { CommandLine } from './command-line.ts';
import type { Command } from './run-command.ts';
import { UsageError } from './usage-error.ts';

const usage = `Usage: ${operatorCommand('doctor', '[OPTIONS]')}

Checks the server on this machine, running or stopped: ports, host name and certificate, proxy, clock, disk, limits, ffmpeg,
the sandbox, database and bucket, and with which latency the last viewers played. Each finding says what is wrong, what
follows from it, and what mends it. Changes nothing.

  --from URL                  checks the public address of a server from here, without a key. Run it on another machine:
                              it finds closed ports, firewalls, wrong certificates, and proxies that change requests
  --bundle FILE               writes a new support archive (tar.gz): versions, limits, findings and settings as numbers and
                              states, and the last log lines without texts. It has no names, addresses, paths or secrets
  --log FILE                  the log for the archive, - for standard input; by default that of the systemd unit millrace, the
                              file that the running server writes it to, or the last lines that it remembers
  --json                      prints JSON, for scripts
  --dataDir=PATH              the data folder of the server, where several run
  --config PATH, --KEY=VALUE  other settings, as for the server; with --from, ports that differ outside (--rtmp.port=1936)
  --help                      prints this

Exit code: 0 when all is well, 1 with warnings, 2 when something failed or the command line is wrong.
`;

export const command: Command = {
  usage,
  options: ['json'],
  valued: ['from', 'bundle', 'log'],
  expected: [],
  interrupted: 'Nothing was written.',
  run: diagnose,
};

interface Diagnosis {
  readonly mode: 'running' | 'stopped' | 'outside';
  /** Line for the operator. */
  readonly line: string;
  readonly config?: Config;
  /** Reads the log of the server that runs. */
  readonly readLog?: () => Promise<string[]>;
  readonly findings: readonly Finding[];
}

async function diagnose(line: CommandLine, signal: AbortSignal): Promise<void> {
  const { positionals, options, values } = line;
  if (positionals.length > 0) throw new UsageError(`unknown argument ${positionals[0]}`);
  if (values.log !== undefined && values.bundle === undefined) throw new UsageError('--log needs --bundle');
  const log = values.bundle === undefined ? undefined : await readArchivedLog(values.bundle, values.log);
  const { exitCodeOf, formatFindings } = await import('./doctor/print-findings.ts');
  const diagnosis =
    values.from === undefined
      ? await diagnoseHere(line, signal)
      : await diagnoseFrom(readAddress(values.from), line, signal);
  signal.throwIfAborted();
  const { mode, findings } = diagnosis;
  const { default: about } = await import('../../package.json', { with: { type: 'json' } });
  const { version } = about;
  if (options.has('json')) {
    const { viewOf } = await import('../operations/checks/checks.ts');
    const { systemClock } = await import('../shared/clock.ts');
    const view = { version, mode, ...viewOf(findings, systemClock) };
    process.stdout.write(`${JSON.stringify(view)}\n`);
  } else {
    process.stdout.write(`${diagnosis.line}\n\n${formatFindings(findings)}`);
  }
  if (values.bundle !== undefined && log !== undefined) {
    const { createSupportArchive } = await import('./doctor/support-archive.ts');
    const { readProgramWords } = await import('./doctor/program-words.ts');
    const { messageOf } = await import('../shared/errors.ts');
    const createdAt = new Date().toISOString();
    const programWords = await readProgramWords();
    const { config, readLog } = diagnosis;
    const isNowhere = values.log === undefined && isEmpty(log) && readLog !== undefined;
    const lines = isNowhere ? await readLog() : log;
    const report = { version, mode, createdAt, config, findings, log: lines, programWords };
    const { bundle } = values;
    await writeNew(bundle, createSupportArchive(report)).catch((error: unknown) => {
      throw new UsageError(`--bundle: ${messageOf(error)}`);
    });
    process.stderr.write(
      `Support archive: ${values.bundle}. Look at it before you send it: tar -xzf ${values.bundle}\n`,
    );
  }
  process.exitCode = exitCodeOf(findings);
}

/** Writes beside the file and renames, so that a killed command leaves no part of an archive under its name. */
async function writeNew(path: string, bytes: Buffer): Promise<void> {
  const { rm, writeFile } = await import('node:fs/promises');
  const { publishNew } = await import('./publish-new.ts');
  const partial = `${path}.partial`;
  try {
    // Left by a killed command to the same file.
    await rm(partial, { force: true });
    await writeFile(partial, bytes, { flag: 'wx', mode: 0o600, flush: true });
    if (!(await publishNew(partial, path))) throw new Error(`${path} exists. Name a new file`);
  } finally {
    await rm(partial, { force: true });
  }
}

function isEmpty(log: readonly string[]): boolean {
  return log.join('') === '';
}

/** Reads the log before the checks, and looks where the archive goes, so that a wrong path is told at once. @throws UsageError */
async function readArchivedLog(bundle: string, path: string | undefined): Promise<string[]> {
  const { access, constants, lstat } = await import('node:fs/promises');
  const { dirname } = await import('node:path');
  const { messageOf } = await import('../shared/errors.ts');
  const { readLog } = await import('./doctor/read-log.ts');
  if (bundle === '-') throw new UsageError('--bundle: expected a file, such as support.tar.gz');
  const found = await lstat(bundle).catch(() => undefined);
  if (found !== undefined) throw new UsageError(`--bundle: ${bundle} exists. Name a new file`);
  await access(dirname(bundle), constants.W_OK | constants.X_OK).catch((error: unknown) => {
    throw new UsageError(`--bundle: ${messageOf(error)}`);
  });
  return readLog(path).catch((error: unknown) => {
    throw new UsageError(`--log: ${messageOf(error)}`);
  });
}

/** @throws UsageError */
function readAddress(text: string): URL {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new UsageError(`--from: expected an address such as https://video.example.org`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError('--from: the address may have no user, password, query or fragment');
  }
  // An empty query or fragment ends with `?` or `#`, to which no path can be added.
  url.search = '';
  url.hash = '';
  return url;
}

const usualPorts: Probe['ports'] = { rtmp: 1935, rtmps: null, srt: 6200, webrtc: 8189 };

async function diagnoseFrom(url: URL, { flags }: CommandLine, signal: AbortSignal): Promise<Diagnosis> {
  const { checkPublicUrl } = await import('../operations/checks/public-checks.ts');
  const { checkPorts } = await import('./doctor/port-checks.ts');
  const given = (await givenPorts(flags)) satisfies Partial<Probe['ports']>;
  const { findings, probe } = await checkPublicUrl(url.href, signal);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const hasName = !findings.some(({ check, state }) => check === 'name' && state === 'failed');
  const ports = hasName ? await checkPorts(host, { ...usualPorts, ...probe?.ports, ...given }) : [];
  return {
    mode: 'outside',
    line: `Checking ${url.href} from this machine.`,
    findings: [...findings, ...ports],
  };
}

async function givenPorts(
  flags: CommandLine['flags'],
): Promise<Partial<Record<keyof Probe['ports'], number>>> {
  const { port } = await import('../config/settings/setting-kinds.ts');
  const given: Partial<Record<keyof Probe['ports'], number>> = {};
  for (const [key, value] of Object.entries(flags)) {
    const name = /^(rtmp|rtmps|srt|webrtc)\.port$/.exec(key)?.[1] as keyof Probe['ports'] | undefined;
    if (name === undefined) throw new UsageError(`--${key} means nothing with --from`);
    try {
      given[name] = port.parse(value);
    } catch {
      throw new UsageError(`--${key}: expected a port`);
    }
  }
  return given;
}

async function diagnoseHere({ flags, configFile }: CommandLine, signal: AbortSignal): Promise<Diagnosis> {
  const { failed } = await import('../operations/checks/finding.ts');
  const { AppError } = await import('../shared/errors.ts');
  const { locateServer } = await import('./command-data-dir.ts');
  const { askForLog, askRunningServer } = await import('./doctor/running-server.ts');
  const env = process.env;
  let located: ReturnType<typeof locateServer>;
  try {
    located = locateServer({ flags, configFile, env });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'config-invalid') throw error;
    const settings = failed('settings', error.message.replaceAll('\n', '; '), {
      why: 'The server does not start with these settings.',
      mend: 'Correct what is named. config/reference.md, and /docs of a server, list all settings.',
    });
    return { mode: 'stopped', line: 'The settings cannot be read.', findings: [settings] };
  }
  const { config, dataDir, server } = located;
  const asked = server === undefined ? undefined : await askRunningServer(server, config, signal);
  if (server !== undefined && asked?.isAnswered === true) {
    const line = `The server at ${server.publicUrl} runs (process ${server.pid}). Data folder: ${dataDir}`;
    const readLog = async () => {
      const { readOutputOf } = await import('./doctor/read-log.ts');
      const output = await readOutputOf(server.pid);
      return isEmpty(output) ? askForLog(server, config, signal) : output;
    };
    return { mode: 'running', line, config, readLog, findings: asked.findings };
  }
  const { checkStoppedServer } = await import('./doctor/stopped-server.ts');
  const findings = await checkStoppedServer(
    { config, dataDir, env, hasFreePorts: server === undefined },
    signal,
  );
  const line =
    server === undefined
      ? `No server runs on the data folder ${dataDir}. Checking what can be checked without it; limits are those of this terminal.`
      : `The server at ${server.publicUrl} (process ${server.pid}) could not be asked. Checking what can be checked without it.`;
  return { mode: 'stopped', line, config, findings: [...(asked?.findings ?? []), ...findings] };
}
