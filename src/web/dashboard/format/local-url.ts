/**
 * An address that the API handed out, on the host under which this dashboard was opened: they differ when the server's public URL
 * is another name for it, and only the own one may be shown here.
 */
export function localUrl(url: string): string {
  try {
    const { pathname, search, hash } = new URL(url, location.href);
    return pathname + search + hash;
  } catch {
    return url;
  }
}

/**
 * The same for a file that changes under its address, so that the browser does not show the one that it keeps.
 *
 * @param version another one when the file may be another one
 */
export function versionedUrl(url: string, version: string | number): string {
  const address = localUrl(url);
  return `${address}${address.includes('?') ? '&' : '?'}v=${encodeURIComponent(version)}`;
}
