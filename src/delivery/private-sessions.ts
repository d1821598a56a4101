interface PrivateSessionRequest {
  readonly resourceId: string;
  readonly token: string;
  /** Tokens from the query, headers, cookies and path of the request. */
  readonly sessionTokens: readonly string[];
  /** Identifies a client across requests: its addresses and user agent. */
  readonly client: string;
  readonly mayClaimToken: boolean;
}

export interface PrivateSession {
  readonly sessionToken: string;
  readonly expiresAtMs: number;
}

export interface PrivateAccess {
  /** Private or signed. */
  readonly token: string;
  /** Undefined for a signed token, which needs no session. */
  readonly avh: string | undefined;
}

/** The session as a query, to follow a `?`; `''` without one. */
export function sessionQuery({ avh }: PrivateAccess): string {
  return avh === undefined ? '' : `avh=${avh}`;
}

export interface PrivateSessions {
  /** Admits a client that presents the token's session or claimed the token. */
  admit(question: PrivateSessionRequest): Promise<PrivateSession | undefined>;
}
