import { createHash, randomBytes } from 'node:crypto';

/** Answers the challenges of a source. RFC 7617; RFC 7616 with MD5 and SHA-256. */
export class RtspCredentials {
  readonly #user: string;
  readonly #password: string;
  #challenge: ReadonlyMap<string, string> | undefined;
  #isBasic = false;
  #count = 0;

  constructor(url: URL) {
    this.#user = decodeURIComponent(url.username);
    this.#password = decodeURIComponent(url.password);
  }

  get isEmpty(): boolean {
    return this.#user === '';
  }

  /** @param challenges `WWW-Authenticate` headers; false when none can be answered */
  accept(challenges: readonly string[]): boolean {
    const digests = challenges.filter(text => /^digest\s/i.test(text)).map(readParameters);
    // Sources list the ones that they prefer first.
    this.#challenge = digests.find(each => algorithmOf(each) !== undefined);
    this.#isBasic = this.#challenge === undefined && challenges.some(text => /^basic\b/i.test(text));
    this.#count = 0;
    return this.#isBasic || this.#challenge !== undefined;
  }

  /** Value of the header `Authorization`; undefined without a challenge. */
  authorize(method: string, uri: string): string | undefined {
    if (this.#isBasic) return `Basic ${Buffer.from(`${this.#user}:${this.#password}`).toString('base64')}`;
    const challenge = this.#challenge;
    if (challenge === undefined) return undefined;
    const hash = (text: string) => createHash(algorithmOf(challenge)!).update(text).digest('hex');
    const realm = challenge.get('realm') ?? '';
    const nonce = challenge.get('nonce') ?? '';
    const hasQop =
      challenge
        .get('qop')
        ?.split(',')
        .some(option => option.trim() === 'auth') === true;
    this.#count += 1;
    const count = this.#count.toString(16).padStart(8, '0');
    const clientNonce = randomBytes(8).toString('hex');
    const secret = hash(`${this.#user}:${realm}:${this.#password}`);
    const middle = hasQop ? `${nonce}:${count}:${clientNonce}:auth` : nonce;
    const response = hash(`${secret}:${middle}:${hash(`${method}:${uri}`)}`);
    const quoted = { username: this.#user, realm, nonce, uri, response };
    const opaque = challenge.get('opaque');
    const algorithm = challenge.get('algorithm');
    return `Digest ${[
      ...Object.entries(quoted).map(([name, value]) => `${name}="${value}"`),
      ...(opaque === undefined ? [] : [`opaque="${opaque}"`]),
      ...(algorithm === undefined ? [] : [`algorithm=${algorithm}`]),
      ...(hasQop ? ['qop=auth', `nc=${count}`, `cnonce="${clientNonce}"`] : []),
    ].join(', ')}`;
  }
}

function readParameters(challenge: string): ReadonlyMap<string, string> {
  const matches = challenge.matchAll(/([a-z]+)=(?:"([^"]*)"|([^\s,]+))/gi);
  return new Map(
    [...matches].map(([, name = '', quoted, plain]) => [name.toLowerCase(), quoted ?? plain ?? '']),
  );
}

function algorithmOf(challenge: ReadonlyMap<string, string>): 'md5' | 'sha256' | undefined {
  const name = (challenge.get('algorithm') ?? 'MD5').toUpperCase();
  return name === 'MD5' ? 'md5' : name === 'SHA-256' ? 'sha256' : undefined;
}
