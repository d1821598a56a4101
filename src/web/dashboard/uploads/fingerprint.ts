const firstBytes = 1024 ** 2;

/**
 * Hashes the first MiB with SHA-256, in hexadecimal. Returns undefined on pages without TLS, where browsers have no hash function.
 *
 * @throws DOMException `NotReadableError` when the file cannot be read
 */
export async function fingerprintOf(file: Blob): Promise<string | undefined> {
  const bytes = await file.slice(0, firstBytes).arrayBuffer();
  // The types assume a secure page.
  const subtle = crypto.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) return undefined;
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return [...digest].map(byte => byte.toString(16).padStart(2, '0')).join('');
}
