export const signingAlgorithms = ['ES256', 'EdDSA', 'RS256'] as const;

export type SigningAlgorithm = (typeof signingAlgorithms)[number];

/** Verifies the tokens of viewers. The private key is never stored. */
export interface SigningKey {
  readonly signingKeyId: string;
  readonly projectId: string;
  readonly name: string;
  readonly algorithm: SigningAlgorithm;
  /** PEM (SPKI). */
  readonly publicKey: string;
  readonly createdAtMs: number;
}

export const maxSigningKeys = 20;
export const maxSigningKeyNameLength = 100;
