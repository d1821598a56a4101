import type { SettingKind } from './setting-kinds.ts';

export interface Setting<Value, Default> {
  readonly env: string;
  readonly kind: SettingKind<Value>;
  /** Default as written in the file; `null` means unset, or chosen by the server. */
  readonly fallback: Default;
  readonly prose: string;
  /** `now`: read at each use, so that it can change while the server runs. */
  readonly applies: 'now' | 'restart';
}

export function setting<Value, const Default extends string | number | boolean | null>(
  env: string,
  kind: SettingKind<Value>,
  fallback: Default,
  prose: string,
  applies: 'now' | 'restart' = 'restart',
): Setting<Value, Default> {
  return { env, kind, fallback, prose, applies };
}

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
