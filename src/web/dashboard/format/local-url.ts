/** Moves a URL of the API to the host of this page, which may differ from the public URL. The content policy allows this host only. */
export function localUrl(url: string): string {
  try {
    const { pathname, search, hash } = new URL(url, location.href);
    return pathname + search + hash;
  } catch {
    return url;
  }
}

/** Adds a version to the URL of a file that changes, so that the browser does not show an older one. */
export function versionedUrl(url: string, version: string | number): string {
  const address = localUrl(url);
  return `${address}${address.includes('?') ? '&' : '?'}v=${encodeURIComponent(version)}`;
}
