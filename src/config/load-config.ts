import { readFileSync } from 'node:fs';
import { AppError, messageOf, systemCodeOf } from '../shared/errors.ts';
import { nodeRoles } from '../shared/node-roles.ts';
import { sizeText } from './settings/setting-kinds.ts';
import { type Config, type SettingKey, settings } from './settings.ts';

/** Sources in ascending precedence: file, environment, flags. */
export interface ConfigSources {
  /** A missing JSON file is an error only when `fileRequired`. */
  readonly file?: string | undefined;
  readonly fileRequired?: boolean;
  /** Replaces the default. Throws when there is none. */
  readonly defaultDataDir?: (() => string) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags?: Readonly<Record<string, string>>;
}

/** Read before the settings. */
const entryPointVariables: ReadonlySet<string> = new Set(['MILLRACE_CONFIG', 'MILLRACE_BROWSER_FOLDER']);

/** Value of a setting that is not its default. */
export interface Given {
  readonly raw: unknown;
  readonly origin: 'file' | 'environment' | 'flag';
  /** Place for error messages: `config/server.json: http.port`. */
  readonly where: string;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly given: ReadonlyMap<string, Given>;
}

/** @throws AppError `config-invalid` listing every problem on a line of its own, with its source */
export function loadConfig(sources: ConfigSources): Config {
  return loadConfigWithOrigins(sources).config;
}

/** @throws AppError `config-invalid` as {@link loadConfig} does */
export function loadConfigWithOrigins(sources: ConfigSources): LoadedConfig {
  const problems: string[] = [];
  const found = new Map<string, Given>();
  if (sources.file !== undefined) collectFile(sources.file, sources.fileRequired ?? false, found, problems);
  collectEnv(sources.env, found, problems);
  for (const [key, raw] of Object.entries(sources.flags ?? {})) {
    if (isSettingKey(key)) found.set(key, { raw, origin: 'flag', where: `--${key}` });
    else problems.push(`--${key}: unknown setting`);
  }

  const config: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(settings)) {
    const given = found.get(key);
    // null in the file means unset.
    const value =
      given === undefined || given.raw === null ? { raw: entry.fallback, where: `default of ${key}` } : given;
    if (value.raw === null) continue;
    try {
      const replaced = key === 'dataDir' && value !== given ? sources.defaultDataDir?.() : undefined;
      config[key] = entry.kind.parse(replaced ?? value.raw);
    } catch (error) {
      problems.push(`${value.where}: ${messageOf(error)}`);
    }
  }
  if (config['tls.domains'] !== undefined) config['https.port'] ??= 443;
  problems.push(...contradictions(config as Partial<Config>));
  if (problems.length > 0) throw new AppError('config-invalid', problems.join('\n'));
  // Unset in the file is no value.
  for (const [key, { raw }] of found) if (raw === null) found.delete(key);
  return { config: config as Config, given: found };
}

export function defaultFile(): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const [key, entry] of Object.entries(settings)) {
    const [group, name] = key.includes('.') ? (key.split('.') as [string, string]) : [undefined, key];
    if (group === undefined) {
      root[name] = entry.fallback;
    } else {
      root[group] ??= {};
      (root[group] as Record<string, unknown>)[name] = entry.fallback;
    }
  }
  return root;
}

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settings, key);
}

function collectFile(path: string, required: boolean, found: Map<string, Given>, problems: string[]): void {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT' && !required) return;
    problems.push(`${path}: cannot be read: ${messageOf(error)}`);
    return;
  }
  let root: unknown;
  try {
    root = JSON.parse(content);
  } catch (error) {
    problems.push(`${path}: is not JSON: ${messageOf(error)}`);
    return;
  }
  if (!isObject(root)) {
    problems.push(`${path}: expected an object`);
    return;
  }
  for (const [name, value] of Object.entries(root)) {
    if (isSettingKey(name)) {
      found.set(name, { raw: value, origin: 'file', where: `${path}: ${name}` });
    } else if (isObject(value)) {
      for (const [inner, raw] of Object.entries(value)) {
        const key = `${name}.${inner}`;
        if (isSettingKey(key)) found.set(key, { raw, origin: 'file', where: `${path}: ${key}` });
        else problems.push(`${path}: ${key}: unknown setting`);
      }
    } else {
      problems.push(`${path}: ${name}: unknown setting`);
    }
  }
}

function collectEnv(env: ConfigSources['env'], found: Map<string, Given>, problems: string[]): void {
  const keyOfEnv = new Map<string, string>(Object.entries(settings).map(([key, entry]) => [entry.env, key]));
  for (const [name, raw] of Object.entries(env)) {
    if (!name.startsWith('MILLRACE_') || raw === undefined || entryPointVariables.has(name)) continue;
    // Variables for tests are allowed, because a test may start the server.
    if (name.startsWith('MILLRACE_TEST_')) continue;
    const key = keyOfEnv.get(name);
    if (key === undefined) problems.push(`${name}: unknown setting`);
    // Container files often pass on empty variables, which mean unset.
    else if (raw !== '') found.set(key, { raw, origin: 'environment', where: name });
  }
}

/** Settings that exclude each other. */
export function contradictions(config: Partial<Config>): string[] {
  const problems: string[] = [];
  const hasCert = config['tls.cert'] !== undefined;
  const hasKey = config['tls.key'] !== undefined;
  if (hasCert !== hasKey) problems.push('tls.cert and tls.key: set both or neither');
  if ((config['tls.acmeKeyId'] === undefined) !== (config['tls.acmeMacKey'] === undefined)) {
    problems.push('tls.acmeKeyId and tls.acmeMacKey: set both or neither');
  }
  const hasDomains = config['tls.domains'] !== undefined;
  if (hasDomains && (hasCert || hasKey)) {
    problems.push(
      'tls.domains and tls.cert: the server gets a certificate for tls.domains, or reads that of tls.cert and tls.key. Leave one out.',
    );
  }
  if (config['tls.email'] !== undefined && !hasDomains) {
    problems.push('tls.email: needs tls.domains, the names that the certificate is for');
  }
  for (const key of ['https.port', 'rtmps.port'] as const) {
    if (config[key] !== undefined && !(hasCert && hasKey) && !hasDomains)
      problems.push(`${key}: needs tls.domains, or tls.cert and tls.key`);
  }
  if ((config['live.partTarget'] ?? 0) * 3 > (config['live.segmentTarget'] ?? Number.POSITIVE_INFINITY)) {
    problems.push('live.partTarget: a segment must hold at least three parts');
  }
  const { 'uploads.minFree': uploadsMinFree, 'recording.minFree': recordingMinFree } = config;
  if (uploadsMinFree !== undefined && recordingMinFree !== undefined && uploadsMinFree <= recordingMinFree) {
    problems.push(
      `uploads.minFree: must be larger than recording.minFree (${sizeText(recordingMinFree)}), or uploads would stop recordings. Raise uploads.minFree or lower recording.minFree.`,
    );
  }
  if (config['oidc.issuer'] !== undefined && config['oidc.clientId'] === undefined) {
    problems.push('oidc.issuer: needs oidc.clientId, which you get from the provider');
  }
  if ((config['smtp.host'] === undefined) !== (config['smtp.from'] === undefined)) {
    problems.push('smtp.host and smtp.from: set both or neither');
  }
  if ((config['smtp.user'] === undefined) !== (config['smtp.password'] === undefined)) {
    problems.push('smtp.user and smtp.password: set both or neither');
  }
  const roles = config['node.roles'];
  if (roles !== undefined && roles.length < nodeRoles.length && config['database.url'] === undefined) {
    problems.push(
      'node.roles: a server with SQLite needs all roles. Set database.url, or leave node.roles out.',
    );
  }
  const taken = new Map<number, string>();
  for (const key of ['http.port', 'https.port', 'rtmp.port', 'rtmps.port', 'webrtc.port'] as const) {
    const port = config[key];
    if (port === undefined || port === 0) continue;
    const other = taken.get(port);
    if (other !== undefined) problems.push(`${key}: port ${port} is already used by ${other}`);
    taken.set(port, key);
  }
  return problems;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
