import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { loadConfigWithOrigins } from '../config/load-config.ts';
import { RunningSettings } from '../config/running-settings.ts';
import type { Config } from '../config/settings.ts';
import { isInClone } from '../shared/installation.ts';

export interface ConfigSource {
  readonly flags: Readonly<Record<string, string>>;
  readonly configFile: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function configFileOf({
  configFile,
  env,
}: Pick<ConfigSource, 'configFile' | 'env'>): string | undefined {
  return configFile ?? (env.MILLRACE_CONFIG || undefined);
}

/** Reads the settings of the server. @throws AppError `config-invalid` */
export function loadServerConfig(source: ConfigSource): Config {
  return loadServerSettings(source).config;
}

/** @throws AppError `config-invalid` */
export function loadServerSettings({ flags, configFile, env }: ConfigSource): RunningSettings {
  const file = configFileOf({ configFile, env });
  const loaded = loadConfigWithOrigins({
    file: file ?? (isInClone ? 'config/server.json' : undefined),
    fileRequired: file !== undefined,
    env,
    flags,
    defaultDataDir: isInClone ? undefined : () => userDataFolder(env),
  });
  return new RunningSettings(loaded);
}

/** Returns the folder that the XDG Base Directory Specification says. @throws Error without a home folder */
function userDataFolder({ XDG_DATA_HOME: base = '' }: ConfigSource['env']): string {
  if (isAbsolute(base)) return join(base, 'millrace');
  const home = homeFolder();
  if (home === undefined)
    throw new Error('this user has no home folder. Set --data-dir=PATH or MILLRACE_DATA_DIR.');
  return join(home, '.local/share/millrace');
}

/** Undefined for a user without HOME and without an entry in `/etc/passwd`, as in some containers. */
function homeFolder(): string | undefined {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : undefined;
  } catch {
    return undefined;
  }
}
