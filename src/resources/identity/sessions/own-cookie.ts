/** Decides the name and the path of a cookie. */
export interface CookieScope {
  /** True for requests over TLS, where only a cookie that was set over TLS counts. */
  readonly isSecure: boolean;
  /** Path of this server: other servers on the same host have their own cookies. */
  readonly basePath: string;
}

/** A cookie for this server alone, hidden from scripts and other sites. RFC 6265bis, 4.1 and 8.8. */
export class OwnCookie {
  readonly #name: string;
  readonly #valuePattern: string;

  /** @param valuePattern source of a regular expression */
  constructor(name: string, valuePattern: string) {
    this.#name = name;
    this.#valuePattern = valuePattern;
  }

  read(cookieHeader: string | undefined, scope: CookieScope): string | undefined {
    if (cookieHeader === undefined) return undefined;
    return new RegExp(`(?:^|;)\\s*${this.#nameIn(scope)}=(${this.#valuePattern})\\s*(?:;|$)`).exec(
      cookieHeader,
    )?.[1];
  }

  /** A value of `Set-Cookie`. */
  write(value: string, lastsMs: number, scope: CookieScope): string {
    const maxAge = Math.floor(lastsMs / 1_000);
    const path = scope.basePath === '' ? '/' : scope.basePath;
    const flags = `Path=${path}; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${scope.isSecure ? '; Secure' : ''}`;
    return `${this.#nameIn(scope)}=${value}; ${flags}`;
  }

  /**
   * Returns the cookie's name. Over TLS, browsers accept `__Host-` only from this host and for all of its paths,
   * so no other host of the domain can set it. `__Secure-` allows one path.
   */
  #nameIn({ isSecure, basePath }: CookieScope): string {
    if (!isSecure) return this.#name;
    return `${basePath === '' ? '__Host-' : '__Secure-'}${this.#name}`;
  }
}
