import { liveSettings } from './settings/live-settings.ts';
import { operationSettings } from './settings/operation-settings.ts';
import { serverSettings } from './settings/server-settings.ts';
import type { Setting } from './settings/setting.ts';
import { videoSettings } from './settings/video-settings.ts';

/** A key `a.b` is `{"a": {"b": ...}}` in the file. */
export const settings = {
  ...serverSettings,
  ...liveSettings,
  ...videoSettings,
  ...operationSettings,
};

export type SettingKey = keyof typeof settings;

type ValueOf<Entry> =
  Entry extends Setting<infer Value, infer Default>
    ? Default extends null
      ? Value | undefined
      : Value
    : never;

/** Durations in milliseconds, sizes in bytes, undefined when unset. */
export type Config = { readonly [Key in SettingKey]: ValueOf<(typeof settings)[Key]> };
