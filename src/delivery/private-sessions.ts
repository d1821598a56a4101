/** A request for a private resource. */
interface PrivateSessionRequest {
  /** Id of the video or live stream. */
  readonly resourceId: string;
  /** The private token of the address. */
  readonly token: string;
  /** Session tokens from the query, headers, cookies and path of the request. */
  readonly sessionTokens: readonly string[];
  /** Identifies a client across requests: its addresses and user agent. */
  readonly client: string;
  /** An unused token becomes this client's. */
  readonly mayClaimToken: boolean;
}

/** The session of a private token, which has one only. */
export interface PrivateSession {
  readonly sessionToken: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** The private token and session of a viewer. */
export interface PrivateAccess {
  readonly token: string;
  readonly avh: string;
}

/** Decides who has access to private resources. */
export interface PrivateSessions {
  /**
   * Returns the session of a token to a client that presents it or claimed the token; undefined for other clients, unknown or expired
   * tokens, and sessions that are over.
   */
  admit(question: PrivateSessionRequest): PrivateSession | undefined;
}
