import { availableParallelism, constants, totalmem } from 'node:os';
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';
import type { SettingKind } from '../../config/settings/setting-kinds.ts';
import type { Config, SettingKey } from '../../config/settings.ts';
import { settings } from '../../config/settings.ts';
import { checkTitles, type Finding, findingStates } from '../../operations/checks/finding.ts';
import { errorRegister } from '../../shared/errors.ts';
import { logLevels } from '../../shared/logger.ts';
import { blockBytes, paddingOf } from '../backup/archive-format.ts';

/*
 * A support archive has nothing but numbers, booleans, times, and words that are in the source code of this program. Texts of
 * findings, settings and log lines are left out: they may hold secrets that nobody expects there.
 */

interface SupportReport {
  readonly version: string;
  readonly mode: string;
  readonly createdAt: string;
  /** Undefined where the settings cannot be read, and from outside. */
  readonly config?: Config | undefined;
  readonly findings: readonly Finding[];
  /** Lines of the log, the oldest first. */
  readonly log: readonly string[];
  /** Words in the source code: names of components and events are among them. */
  readonly programWords: ReadonlySet<unknown>;
}

const readme = `Support archive of Millrace, written by "millrace doctor --bundle".

report.json    versions and the machine
findings.json  the findings as names, states and numbers, without their texts
settings.json  settings that are numbers, switches or words of a list; of all others only whether they are set
log.jsonl      lines of the log: time, level, component, event, and numbers and error codes that are known; without texts

Nothing else is in it: no names, addresses, paths, keys or messages. Look at it before you send it.
`;

/** Returns the archive: tar, compressed with gzip. */
export function createSupportArchive(report: SupportReport): Buffer {
  const { version, mode, createdAt, config, findings, log, programWords } = report;
  const files: Readonly<Record<string, string>> = {
    'README.txt': readme,
    'report.json': toJson({ version, mode, createdAt, ...describeMachine() }),
    'findings.json': toJson(findings.flatMap(reduceFinding)),
    'settings.json': toJson(config === undefined ? {} : reduceSettings(config)),
    'log.jsonl': log
      .flatMap(line => reduceLine(line, programWords))
      .map(line => `${JSON.stringify(line)}\n`)
      .join(''),
  };
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const body = Buffer.from(text);
    const header = new Header({
      path: `millrace-support/${name}`,
      size: body.length,
      mtime: new Date(createdAt),
      mode: 0o600,
      type: 'File',
    });
    header.encode();
    return [header.block!, body, Buffer.alloc(paddingOf(body.length))];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]));
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function describeMachine() {
  return {
    node: process.versions.node,
    platform: process.platform,
    architecture: process.arch,
    cores: availableParallelism(),
    memoryBytes: totalmem(),
  };
}

function reduceFinding({ check, state, facts = {} }: Finding): unknown[] {
  // A server of another version may have sent it.
  if (!Object.hasOwn(checkTitles, check) || !findingStates.includes(state)) return [];
  const numbers = Object.entries(facts).filter(
    ([name, value]) => /^[a-z][A-Za-z0-9]{0,30}$/.test(name) && isHarmless(value),
  );
  return [{ check, state, facts: Object.fromEntries(numbers) }];
}

function reduceSettings(config: Config): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(settings).map(([key, { kind }]) => [key, reduceSetting(config[key as SettingKey], kind)]),
  );
}

function reduceSetting(value: unknown, { words = [] }: SettingKind<unknown>): unknown {
  if (value === undefined) return 'unset';
  if (isHarmless(value)) return value;
  const isListed = [value].flat().every(word => words.includes(word as string));
  return isListed ? value : 'set';
}

function isHarmless(value: unknown): boolean {
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}

/** Names of numbers and booleans in log lines that an archive has. */
const loggedNumbers = [
  ...['http', 'https', 'rtmp', 'rtmps', 'srt', 'port', 'httpPort', 'httpsPort', 'status', 'count', 'removed'],
  ...['ms', 'withinMs', 'seconds', 'bytes', 'freeBytes', 'limit', 'needed', 'attempt', 'isActive', 'failed'],
];
const codes: ReadonlySet<unknown> = new Set([...Object.keys(constants.errno), ...Object.keys(errorRegister)]);
const loggedTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/;

/** Returns nothing for a line that is not one of the log. */
function reduceLine(text: string, programWords: ReadonlySet<unknown>): unknown[] {
  const line = parseObject(text);
  const { time, level, component, event } = line ?? {};
  const isOurs =
    line !== undefined &&
    typeof time === 'string' &&
    loggedTime.test(time) &&
    (logLevels as readonly unknown[]).includes(level) &&
    programWords.has(component) &&
    programWords.has(event);
  if (!isOurs) return [];
  const numbers = loggedNumbers.flatMap(name =>
    isHarmless(line[name]) ? [[name, line[name]] as const] : [],
  );
  const error = line.error as { readonly code?: unknown } | undefined;
  const code = [line.code, error?.code].find(one => codes.has(one));
  return [
    {
      time,
      level,
      component,
      event,
      ...(code === undefined ? {} : { code }),
      ...Object.fromEntries(numbers),
    },
  ];
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
