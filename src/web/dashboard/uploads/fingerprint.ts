const firstBytes = 1024 ** 2;

/** SHA-256 of the first MiB in hexadecimal; undefined without TLS. @throws DOMException `NotReadableError` */
export async function fingerprintOf(file: Blob): Promise<string | undefined> {
  const bytes = await file.slice(0, firstBytes).arrayBuffer();
  // The types assume a secure page.
  const subtle = crypto.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) return undefined;
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return [...digest].map(byte => byte.toString(16).padStart(2, '0')).join('');
}
