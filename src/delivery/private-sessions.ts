/** Who asks for something private, and with which token. */
export interface PrivateSessionRequest {
  /** Id of the video or live stream. */
  readonly resourceId: string;
  /** The private token of the address. */
  readonly token: string;
  /** Session tokens that the request shows, in whatever way. */
  readonly sessionTokens: readonly string[];
  /** What is alike in all requests of one client: its addresses and its user agent. */
  readonly client: string;
  /** Whether a token that nobody has used yet becomes this client's. */
  readonly mayClaimToken: boolean;
}

/** The one session of a private token. */
export interface PrivateSession {
  readonly sessionToken: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** The private token and session that a viewer came with. */
export interface PrivateAccess {
  readonly token: string;
  readonly avh: string;
}

/** Knows who may see what is private. */
export interface PrivateSessions {
  /**
   * The session of a token, for whoever shows it or is the client that used the token first. Undefined for everybody else,
   * and where the token is unknown, too old, or its session is over.
   */
  admit(question: PrivateSessionRequest): PrivateSession | undefined;
}
