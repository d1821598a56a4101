import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

const isPresentAndVerified = 0x05;
const hasCredential = 0x40;

/** An authenticator with one discoverable passkey, as Web Authentication Level 3 describes it in 6.1 and 6.5. */
export class SoftwareAuthenticator {
  readonly #origin: string;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #id = randomBytes(32);
  #userHandle = '';
  counter = 0;
  /** Bits of the authenticator data: that somebody was there, and who it was. */
  flags = isPresentAndVerified;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Result of `navigator.credentials.create()`, as JSON. */
  create({ challenge, rp, user }: CreationOptions) {
    this.#userHandle = user.id;
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    const coordinate = (text: string) =>
      Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, 'base64url')]);
    // COSE (RFC 9053, 7.1): {1: EC2, 3: ES256, -1: P-256, -2: x, -3: y}.
    const key = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      coordinate(x),
      Buffer.from([0x22]),
      coordinate(y),
    ]);
    const data = Buffer.concat([
      this.#authenticatorData(rp.id, hasCredential),
      Buffer.alloc(16),
      Buffer.from([0, this.#id.length]),
      this.#id,
      key,
    ]);
    // CBOR: {"fmt": "none", "attStmt": {}, "authData": bytes}.
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3, 0x63]),
      Buffer.from('fmt'),
      Buffer.from([0x64]),
      Buffer.from('none'),
      Buffer.from([0x67]),
      Buffer.from('attStmt'),
      Buffer.from([0xa0, 0x68]),
      Buffer.from('authData'),
      Buffer.from([0x58, data.length]),
      data,
    ]);
    return this.#credential({
      clientDataJSON: this.#clientData('webauthn.create', challenge).toString('base64url'),
      attestationObject: attestationObject.toString('base64url'),
      transports: ['internal'],
    });
  }

  /** Result of `navigator.credentials.get()`, as JSON. */
  get({ challenge, rpId }: RequestOptions) {
    this.counter += 1;
    const clientData = this.#clientData('webauthn.get', challenge);
    const data = this.#authenticatorData(rpId);
    const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()]);
    return this.#credential({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: sign('sha256', signed, this.#keys.privateKey).toString('base64url'),
      userHandle: this.#userHandle,
    });
  }

  #credential<Response>(response: Response) {
    const id = this.#id.toString('base64url');
    return { id, rawId: id, type: 'public-key' as const, clientExtensionResults: {}, response };
  }

  #clientData(type: string, challenge: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.#origin, crossOrigin: false }));
  }

  #authenticatorData(rpId: string, more = 0): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    return Buffer.concat([
      createHash('sha256').update(rpId).digest(),
      Buffer.from([this.flags | more]),
      counter,
    ]);
  }
}
