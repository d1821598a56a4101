/** Returns the setting of a flag: `--data-dir` and `--dataDir` are the same. */
export function settingName(flag: string): string {
  return flag.replace(/-([a-z])/g, (_found, letter: string) => letter.toUpperCase());
}

/** Returns the flag of a setting in its spelling with dashes. */
export function flagOf(setting: string): string {
  return setting.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
}
