const firstBytes = 1024 ** 2;

/**
 * SHA-256 of a file's first MiB in hexadecimal; undefined where the browser has no such function, which is on every page that came
 * over plain HTTP from another machine.
 *
 * @throws DOMException `NotReadableError` when the file cannot be read (any more)
 */
export async function fingerprintOf(file: Blob): Promise<string | undefined> {
  const bytes = await file.slice(0, firstBytes).arrayBuffer();
  // Types know only of secure pages.
  const subtle = crypto.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) return undefined;
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return [...digest].map(byte => byte.toString(16).padStart(2, '0')).join('');
}
