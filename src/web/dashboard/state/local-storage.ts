export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(`millrace.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function writeStored(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`millrace.${name}`);
    else localStorage.setItem(`millrace.${name}`, value);
  } catch {
    // Works without.
  }
}
