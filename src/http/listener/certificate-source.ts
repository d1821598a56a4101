import type { SecureContext } from 'node:tls';

export interface KeyPair {
  /** PEM chain. */
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
}

export interface CertificateSource {
  /** Undefined until there is one: connections are refused until then. */
  secureContext(): KeyPair | undefined;
  /** @returns stops listening */
  onChange(listener: () => void): () => void;
  /** The TLS-ALPN-01 challenges of a certificate that the server orders itself. */
  readonly challenges?: {
    /** A pair with which TLS can begin before there is a certificate. */
    readonly placeholder: KeyPair | undefined;
    find(servername: string): SecureContext | undefined;
  };
}
