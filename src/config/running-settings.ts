import { messageOf } from '../shared/errors.ts';
import { contradictions, type Given, isSettingKey, type LoadedConfig } from './load-config.ts';
import { type Config, type SettingKey, settings } from './settings.ts';

interface Replaced {
  readonly raw: string;
  readonly value: unknown;
}

/** Why a value would be ignored: it is not one of the setting, or it contradicts another setting. */
interface SettingProblem {
  readonly kind: 'value' | 'contradiction';
  readonly text: string;
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
   * Replaces all values that were replaced before. Ignores those that no longer apply, are invalid or contradict others:
   * another version of the server may have stored them, or the file has changed since.
   * @returns problems of the last two, one sentence each
   */
  replace(values: Readonly<Record<string, string>>): string[] {
    const { replaced, problems } = this.#parse(values);
    this.#replaced = replaced;
    return [...problems.values()].map(({ text }) => text);
  }

  /** Returns the problem of the value of `key`, the last of `values`; undefined when it would apply. */
  problemOf(key: string, values: Readonly<Record<string, string>>): SettingProblem | undefined {
    return this.#parse(values).problems.get(key);
  }

  #parse(values: Readonly<Record<string, string>>) {
    const problems = new Map<string, SettingProblem>();
    const replaced = new Map<string, Replaced>();
    let config: Config = this.#loaded.config;
    for (const [key, raw] of Object.entries(values)) {
      if (!isSettingKey(key) || settings[key].applies !== 'now' || this.isPinned(key)) continue;
      try {
        const value = settings[key].kind.parse(raw);
        const changed = { ...config, [key]: value };
        const found = contradictions(changed);
        if (found.length > 0) {
          problems.set(key, { kind: 'contradiction', text: found.join(' ') });
          continue;
        }
        config = changed;
        replaced.set(key, { raw, value });
      } catch (error) {
        problems.set(key, { kind: 'value', text: `${key}: ${messageOf(error)}` });
      }
    }
    return { replaced, problems };
  }
}
