/** The content policy allows this host only, which may differ from the public URL. */
export function localUrl(url: string): string {
  try {
    const { pathname, search, hash } = new URL(url, location.href);
    return pathname + search + hash;
  } catch {
    return url;
  }
}

export function versionedUrl(url: string, version: string | number): string {
  const address = localUrl(url);
  return `${address}${address.includes('?') ? '&' : '?'}v=${encodeURIComponent(version)}`;
}
