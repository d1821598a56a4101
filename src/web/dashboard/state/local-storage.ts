const storages = {
  /** Shared by all tabs and later visits. */
  browser: () => localStorage,
  /** Limited to one tab. */
  tab: () => sessionStorage,
};

export function readStored(name: string, of: keyof typeof storages = 'browser'): string | undefined {
  try {
    return storages[of]().getItem(`millrace.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function writeStored(
  name: string,
  value: string | undefined,
  of: keyof typeof storages = 'browser',
): void {
  try {
    if (value === undefined) storages[of]().removeItem(`millrace.${name}`);
    else storages[of]().setItem(`millrace.${name}`, value);
  } catch {
    // Works without.
  }
}
