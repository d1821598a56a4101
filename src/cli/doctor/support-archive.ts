import { availableParallelism, totalmem } from 'node:os';
import { gzipSync } from 'node:zlib';
import { Header } from 'tar';
import type { SettingKind } from '../../config/settings/setting-kinds.ts';
import type { Config, SettingKey } from '../../config/settings.ts';
import { settings } from '../../config/settings.ts';
import { checkTitles, type Finding, findingStates } from '../../operations/checks/finding.ts';
import { isHarmless, reduceLogLine } from '../../shared/reduce-log-line.ts';
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

/** Returns nothing for a line that is not one of the log, or whose words are not in the source code. */
function reduceLine(text: string, programWords: ReadonlySet<unknown>): unknown[] {
  const line = reduceLogLine(text);
  return line !== undefined && programWords.has(line.component) && programWords.has(line.event) ? [line] : [];
}
