import { isSettingKey } from '../../config/load-config.ts';
import type { RunningSettings } from '../../config/running-settings.ts';
import { type SettingKey, settings } from '../../config/settings.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import type { Database } from '../../store/database.ts';
import { ServerSettingsStore } from './server-settings.store.ts';

interface ServerSettingView {
  readonly name: string;
  readonly variable: string;
  readonly description: string;
  readonly kind: string;
  readonly words: string[] | undefined;
  readonly isList: boolean;
  readonly isSecret: boolean;
  readonly applies: 'now' | 'restart';
  readonly origin: 'default' | 'dashboard' | 'file' | 'environment' | 'flag';
  readonly where: string | undefined;
  readonly isChangeable: boolean;
  readonly isSet: boolean;
  readonly value: string | undefined;
  readonly fallback: string | undefined;
}

/** Pause after the database did not answer. */
const retryMs = 2_000;

/** Applies the settings that were changed in the dashboard to this server. */
export class ServerSettings implements Component {
  readonly name = 'settings';
  readonly #settings: RunningSettings;
  readonly #store: ServerSettingsStore;
  readonly #log: Logger;
  #stopListening = () => {};
  #reading: Promise<void> = Promise.resolve();
  readonly #listeners = new Set<() => void>();
  #problems: readonly string[] = [];
  #retrying: NodeJS.Timeout | undefined;
  #isStopping = false;

  constructor(options: { settings: RunningSettings; database: Database; log: Logger }) {
    this.#settings = options.settings;
    this.#store = new ServerSettingsStore(options.database);
    this.#log = options.log;
  }

  /** Applies the stored values. Call this before anything reads the settings. */
  async apply(): Promise<void> {
    const problems = this.#settings.replace(await this.#store.read());
    if (problems.length > 0 && problems.join() !== this.#problems.join()) {
      const advice =
        'The values of the settings file apply instead. Change them on the server page of the dashboard.';
      this.#log.warn('settings-not-applied', { problems, advice });
    }
    this.#problems = problems;
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` each time that values were applied. @returns stops listening */
  onApplied(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async start(): Promise<void> {
    const applyAgain = () => {
      clearTimeout(this.#retrying);
      this.#applyAgain().catch((error: unknown) => {
        this.#log.warn('settings-not-read', { error: messageOf(error) });
        if (!this.#isStopping) this.#retrying = setTimeout(applyAgain, retryMs);
      });
    };
    this.#stopListening = this.#store.onChange(applyAgain);
    // Another server may have changed them while this one started.
    applyAgain();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#stopListening();
    clearTimeout(this.#retrying);
    await this.#reading.catch(() => {});
  }

  list(): ServerSettingView[] {
    return (Object.keys(settings) as SettingKey[]).map(key => this.#view(key));
  }

  /** Undefined for an unknown key. */
  find(key: string): ServerSettingView | undefined {
    return isSettingKey(key) ? this.#view(key) : undefined;
  }

  /**
   * Sets a value, or with undefined leaves it to the file again.
   * @throws AppError `setting-not-changeable`, `invalid-attribute`, `setting-contradicts-another`
   */
  async change(key: string, value: string | undefined): Promise<ServerSettingView> {
    const view = this.find(key);
    if (view === undefined)
      throw new AppError('resource-not-found', undefined, { details: { name: 'setting' } });
    if (!view.isChangeable) throw notChangeable(view);
    const { [key]: _, ...others } = await this.#store.read();
    const problem =
      value === undefined ? undefined : this.#settings.problemOf(key, { ...others, [key]: value });
    if (problem !== undefined) {
      const code = problem.kind === 'value' ? 'invalid-attribute' : 'setting-contradicts-another';
      throw new AppError(code, undefined, { details: { name: 'value', detail: problem.text } });
    }
    await this.#store.write(key, value);
    await this.#applyAgain();
    this.#log.info('setting-changed', { key, value: value ?? null });
    return this.find(key)!;
  }

  /** One after the other: an older answer of the database must not replace a newer one. */
  #applyAgain(): Promise<void> {
    this.#reading = this.#reading.catch(() => {}).then(() => this.apply());
    return this.#reading;
  }

  #view(key: SettingKey): ServerSettingView {
    const { env, kind, prose, applies, fallback } = settings[key];
    const { kind: origin, where, raw } = this.#settings.originOf(key);
    const isSecret = kind.isSecret === true;
    return {
      name: key,
      variable: env,
      description: prose,
      kind: kind.name,
      words: kind.words && [...kind.words],
      isList: kind.isList === true,
      isSecret,
      applies,
      origin,
      where,
      isChangeable: applies === 'now' && !this.#settings.isPinned(key),
      isSet: raw !== null && raw !== undefined,
      value: isSecret ? undefined : textOf(raw),
      fallback: isSecret ? undefined : textOf(fallback),
    };
  }
}

/** Leaves out the user name and password of an address. */
function textOf(raw: unknown): string | undefined {
  if (raw === null || raw === undefined) return undefined;
  const text = String(raw);
  const url = URL.parse(text);
  if (url === null || (url.username === '' && url.password === '')) return text;
  url.username = '';
  url.password = '';
  return url.href;
}

function notChangeable({ applies, where, variable }: ServerSettingView): AppError {
  const detail =
    applies === 'restart'
      ? `It applies when the server starts. Set it in the settings file or as ${variable}, and restart the server.`
      : `${where} sets it. Remove it there and restart the server to change it here.`;
  return new AppError('setting-not-changeable', undefined, { details: { name: 'setting', detail } });
}
