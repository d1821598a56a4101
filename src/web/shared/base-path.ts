const { origin, pathname } = new URL(import.meta.url);

/**
 * The path below which a reverse proxy offers the server, `''` without one. The server begins the addresses of its
 * scripts with it.
 */
const basePath = /^(.*?)(?:\/dashboard|\/docs)?\/assets\/[^/]+$/.exec(pathname)?.[1] ?? '';

/** The URL that this page comes from, such as `https://video.example.org/media`. */
export const serverUrl = origin + basePath;

/** The address of a path of this server. */
export function withBasePath(path: string): string {
  return basePath + path;
}

/** The path of this server at an address, which may lack the base path. */
export function withoutBasePath(address: string): string {
  return address === basePath || address.startsWith(`${basePath}/`)
    ? address.slice(basePath.length)
    : address;
}
