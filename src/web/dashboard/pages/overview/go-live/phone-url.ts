const loopback = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * The address of a page for other devices, on the public URL of the server. Undefined where phones cannot reach it or
 * would not allow their camera.
 */
export function phoneUrl(path: string, publicUrl: string): string | undefined {
  if (!URL.canParse(path, publicUrl)) return undefined;
  const url = new URL(path, publicUrl);
  return url.protocol === 'https:' && !loopback.test(url.hostname) ? url.href : undefined;
}
