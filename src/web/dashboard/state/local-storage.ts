/** Reads what this browser keeps for the dashboard; undefined when there is nothing, or storage is off. */
export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(`millrace.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text in this browser, or forgets it. Without storage it holds until the page is closed. */
export function writeStored(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`millrace.${name}`);
    else localStorage.setItem(`millrace.${name}`, value);
  } catch {
    // Nothing depends on it.
  }
}
