import { messageOf } from '../shared/errors.ts';
import { contradictions, type Given, isSettingKey, type LoadedConfig } from './load-config.ts';
import { type Config, type SettingKey, settings } from './settings.ts';

interface Replaced {
  readonly raw: string;
  readonly value: unknown;
}

interface Origin {
  readonly kind: 'default' | 'dashboard' | Given['origin'];
  /** Names the variable, flag or file; undefined for the others. */
  readonly where: string | undefined;
  /** Undefined when nothing sets it. */
  readonly raw: unknown;
}

/**
 * Settings of a running server. Those that apply at once can be replaced, unless a flag or the environment sets them; every
 * use reads the newest value from `config`.
 */
export class RunningSettings {
  readonly config: Config;
  readonly #loaded: LoadedConfig;
  #replaced: ReadonlyMap<string, Replaced> = new Map();

  constructor(loaded: LoadedConfig) {
    this.#loaded = loaded;
    const config = { ...loaded.config };
    for (const [key, { applies }] of Object.entries(settings)) {
      if (applies !== 'now') continue;
      const get = () => {
        const replaced = this.#replaced.get(key);
        return replaced === undefined ? loaded.config[key as SettingKey] : replaced.value;
      };
      Object.defineProperty(config, key, { enumerable: true, get });
    }
    this.config = config;
  }

  originOf(key: SettingKey): Origin {
    const replaced = this.#replaced.get(key);
    if (replaced !== undefined) return { kind: 'dashboard', where: undefined, raw: replaced.raw };
    const given = this.#loaded.given.get(key);
    const { fallback } = settings[key];
    // The file in a clone has every setting.
    const isDefault = given === undefined || (given.origin === 'file' && given.raw === fallback);
    return isDefault
      ? { kind: 'default', where: undefined, raw: fallback }
      : { kind: given.origin, where: given.where, raw: given.raw };
  }

  /** True when a flag or the environment sets it. */
  isPinned(key: SettingKey): boolean {
    const origin = this.#loaded.given.get(key)?.origin;
    return origin === 'flag' || origin === 'environment';
  }

  /**
   * Replaces all values that were replaced before, or none when one of them is invalid. Ignores those that no longer apply:
   * another version of the server may have stored them.
   * @returns problems, one sentence each
   */
  replace(values: Readonly<Record<string, string>>): string[] {
    const { replaced, problems } = this.#parse(values);
    if (problems.length === 0) this.#replaced = replaced;
    return problems;
  }

  problemsOf(values: Readonly<Record<string, string>>): string[] {
    return this.#parse(values).problems;
  }

  #parse(values: Readonly<Record<string, string>>) {
    const problems: string[] = [];
    const replaced = new Map<string, Replaced>();
    for (const [key, raw] of Object.entries(values)) {
      if (!isSettingKey(key) || settings[key].applies !== 'now' || this.isPinned(key)) continue;
      try {
        replaced.set(key, { raw, value: settings[key].kind.parse(raw) });
      } catch (error) {
        problems.push(`${key}: ${messageOf(error)}`);
      }
    }
    const config: Record<string, unknown> = { ...this.#loaded.config };
    for (const [key, { value }] of replaced) config[key] = value;
    if (problems.length === 0) problems.push(...contradictions(config as Partial<Config>));
    return { replaced, problems };
  }
}
