interface PrivateSessionRequest {
  readonly resourceId: string;
  readonly token: string;
  /** From the query, headers, cookies and path of the request. */
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
  readonly token: string;
  readonly avh: string;
}

export interface PrivateSessions {
  /** Admits a client that presents the token's session or claimed the token. */
  admit(question: PrivateSessionRequest): Promise<PrivateSession | undefined>;
}
