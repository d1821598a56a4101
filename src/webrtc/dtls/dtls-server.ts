import {
  constants,
  createHash,
  randomBytes,
  sign,
  timingSafeEqual,
  verify,
  X509Certificate,
} from 'node:crypto';
import { messageOf } from '../../shared/errors.ts';
import { type DtlsCertificate, fingerprintOf } from './dtls-certificate.ts';
import { HandshakeAssembler, type HandshakeMessage, writeHandshake } from './handshake-assembler.ts';
import {
  HANDSHAKE,
  readCertificate,
  readCertificateVerify,
  readClientHello,
  readClientKeyExchange,
  SRTP_PROFILE,
  type SrtpProfile,
  writeCertificate,
  writeCertificateRequest,
  writeKeyExchangeParameters,
  writeServerHello,
  writeServerKeyExchange,
} from './handshake-messages.ts';
import { createKeyAgreement, type KeyAgreement } from './key-agreement.ts';
import { OutgoingFlights } from './outgoing-flights.ts';
import { prf } from './prf.ts';
import { CONTENT, type RecordKeys, RecordLayer } from './record-layer.ts';

export interface Fingerprint {
  /** Name of the hash in node:crypto. */
  readonly hash: 'sha256' | 'sha384' | 'sha512';
  /** Upper case, with colons. */
  readonly value: string;
}

export interface SrtpKeys {
  readonly key: Buffer;
  readonly salt: Buffer;
}

export interface SrtpSecrets {
  readonly profile: SrtpProfile;
  readonly client: SrtpKeys;
  readonly server: SrtpKeys;
}

interface DtlsServerOptions {
  readonly certificate: DtlsCertificate;
  /** The client's certificate must have one of these. */
  readonly fingerprints: readonly Fingerprint[];
  send(datagram: Buffer): void;
  connected(secrets: SrtpSecrets): void;
  /** Called once when the client ends the connection, also after `connected`. */
  closed(reason: 'peer-closed' | 'handshake-failed', detail: string): void;
}

const ALERT_CLOSE_NOTIFY = 0;
const ALERT_FATAL = 2;
const verifyDataBytes = 12;

/** Results of the ClientHello. */
interface Negotiated {
  readonly clientRandom: Buffer;
  readonly profile: SrtpProfile;
}

/** `expected` is the client's next message. */
type State =
  | { readonly name: 'handshake'; readonly expected: typeof HANDSHAKE.clientHello }
  | {
      readonly name: 'handshake';
      readonly expected: typeof HANDSHAKE.certificate;
      readonly negotiated: Negotiated;
      readonly agreement: KeyAgreement;
    }
  | {
      readonly name: 'handshake';
      readonly expected: typeof HANDSHAKE.clientKeyExchange;
      readonly negotiated: Negotiated;
      readonly agreement: KeyAgreement;
      readonly certificate: X509Certificate;
    }
  | {
      readonly name: 'handshake';
      readonly expected: typeof HANDSHAKE.certificateVerify;
      readonly negotiated: Negotiated;
      readonly certificate: X509Certificate;
      readonly masterSecret: Buffer;
    }
  | {
      readonly name: 'handshake';
      readonly expected: typeof HANDSHAKE.finished;
      readonly negotiated: Negotiated;
      readonly masterSecret: Buffer;
    }
  | { readonly name: 'connected' }
  | { readonly name: 'closed' };

type Expecting<Type extends number> = Extract<State, { readonly expected: Type }>;

/**
 * The server's side of DTLS 1.2 with SRTP keys, for one client whose address ICE verifies, so that no cookie is asked for.
 * RFC 6347; RFC 5764. Reads untrusted input: what is malformed ends the handshake, and never throws.
 */
export class DtlsServer {
  readonly #options: DtlsServerOptions;
  readonly #records = new RecordLayer();
  readonly #assembler = new HandshakeAssembler();
  /** All messages so far, which both sides sign and hash. */
  readonly #transcript: Buffer[] = [];
  readonly #serverRandom = randomBytes(32);
  readonly #flights: OutgoingFlights;
  #state: State = { name: 'handshake', expected: HANDSHAKE.clientHello };

  constructor(options: DtlsServerOptions) {
    this.#options = options;
    this.#flights = new OutgoingFlights(this.#records, datagram => options.send(datagram));
  }

  receive(datagram: Buffer): void {
    if (this.#isClosed) return;
    try {
      for (const { type, epoch, body } of this.#records.read(datagram)) {
        if (type === CONTENT.alert) this.#handleAlert(epoch, body);
        // Only the client's Finished is encrypted.
        else if (type === CONTENT.handshake) this.#handleFragments(body, epoch);
        if (this.#isClosed) return;
      }
      this.#flights.repeatRequested();
    } catch (error) {
      // Later on, anyone on the way could end the connection like this.
      if (!this.#isConnected) this.#fail(messageOf(error));
    }
  }

  /** Tells the client, once keys are agreed upon. */
  close(): void {
    const { name } = this.#state;
    this.#state = { name: 'closed' };
    this.#flights.stop();
    if (name !== 'connected') return;
    this.#options.send(this.#records.write(CONTENT.alert, 1, Buffer.from([1, ALERT_CLOSE_NOTIFY])));
  }

  get #isConnected(): boolean {
    return this.#state.name === 'connected';
  }

  get #isClosed(): boolean {
    return this.#state.name === 'closed';
  }

  #handleAlert(epoch: number, body: Buffer): void {
    // Anyone on the way can send alerts that are not encrypted.
    if (body.length !== 2 || (this.#isConnected && epoch === 0)) return;
    const [level, alert] = body;
    if (alert === ALERT_CLOSE_NOTIFY) this.#end('peer-closed', 'The client closed the connection.');
    else if (level === ALERT_FATAL) this.#fail(`the client sent the alert ${alert}`);
  }

  #handleFragments(body: Buffer, epoch: number): void {
    const lastOfClient = epoch === 1 ? HANDSHAKE.finished : HANDSHAKE.clientHello;
    const isCurrent = (epoch === 1) === this.#isConnected;
    const messages = this.#assembler.add(body, type => {
      if (isCurrent && type === lastOfClient) this.#flights.request();
    });
    for (const message of messages) {
      if (this.#isConnected) return;
      if ((message.type === HANDSHAKE.finished) !== (epoch === 1)) {
        throw new Error(`message ${message.type} came with epoch ${epoch}`);
      }
      this.#handle(message);
      if (this.#isClosed) return;
    }
  }

  #handle(message: HandshakeMessage): void {
    const state = this.#state;
    if (state.name !== 'handshake') return;
    if (message.type !== state.expected) {
      throw new Error(`message ${message.type} came instead of ${state.expected}`);
    }
    switch (state.expected) {
      case HANDSHAKE.clientHello:
        this.#startHandshake(message);
        break;
      case HANDSHAKE.certificate:
        this.#checkCertificate(message, state);
        break;
      case HANDSHAKE.clientKeyExchange:
        this.#agreeOnKeys(message, state);
        break;
      case HANDSHAKE.certificateVerify:
        this.#checkSignature(message, state);
        break;
      case HANDSHAKE.finished:
        this.#finish(message, state);
        break;
    }
  }

  #startHandshake(message: HandshakeMessage): void {
    const hello = readClientHello(message.body);
    if (typeof hello === 'string') throw new Error(`the client does not support ${hello}`);
    this.#transcript.push(writeHandshake(message));
    const clientRandom = Buffer.from(hello.random);
    const agreement = createKeyAgreement(hello.group);
    const { certificate } = this.#options;
    const parameters = writeKeyExchangeParameters(hello.group, agreement.publicKey);
    const signed = Buffer.concat([clientRandom, this.#serverRandom, parameters]);
    const signature = sign('sha256', signed, certificate.privateKey);
    const negotiated = { clientRandom, profile: hello.srtpProfile };
    this.#state = { name: 'handshake', expected: HANDSHAKE.certificate, negotiated, agreement };
    this.#startFlight(false, [
      [HANDSHAKE.serverHello, writeServerHello(this.#serverRandom, hello)],
      [HANDSHAKE.certificate, writeCertificate(certificate.der)],
      [HANDSHAKE.serverKeyExchange, writeServerKeyExchange(parameters, signature)],
      [HANDSHAKE.certificateRequest, writeCertificateRequest()],
      [HANDSHAKE.serverHelloDone, Buffer.alloc(0)],
    ]);
  }

  #checkCertificate(message: HandshakeMessage, state: Expecting<typeof HANDSHAKE.certificate>): void {
    const der = readCertificate(message.body);
    if (der === undefined) throw new Error('the client has no certificate');
    const isKnown = this.#options.fingerprints.some(({ hash, value }) => fingerprintOf(hash, der) === value);
    if (!isKnown) throw new Error("the client's certificate does not have the fingerprint of its SDP");
    const certificate = new X509Certificate(der);
    this.#transcript.push(writeHandshake(message));
    this.#state = { ...state, expected: HANDSHAKE.clientKeyExchange, certificate };
  }

  #agreeOnKeys(message: HandshakeMessage, state: Expecting<typeof HANDSHAKE.clientKeyExchange>): void {
    const { negotiated, agreement, certificate } = state;
    this.#transcript.push(writeHandshake(message));
    const premaster = agreement.secret(readClientKeyExchange(message.body));
    // RFC 7627, 4.
    const masterSecret = prf(premaster, 'extended master secret', this.#transcriptHash(), 48);
    const randoms = Buffer.concat([this.#serverRandom, negotiated.clientRandom]);
    this.#records.useKeys(recordKeys(masterSecret, randoms));
    const expected = HANDSHAKE.certificateVerify;
    this.#state = { name: 'handshake', expected, negotiated, certificate, masterSecret };
  }

  #checkSignature(message: HandshakeMessage, state: Expecting<typeof HANDSHAKE.certificateVerify>): void {
    const { negotiated, certificate, masterSecret } = state;
    const proof = readCertificateVerify(message.body);
    if (proof === undefined) throw new Error('the client signs with an algorithm that was not offered');
    const { publicKey: key } = certificate;
    const padding =
      key.asymmetricKeyType === 'rsa'
        ? {
            padding: proof.isPss ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING,
            ...(proof.isPss ? { saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : {}),
          }
        : {};
    const isAuthentic = verify(
      proof.hash,
      Buffer.concat(this.#transcript),
      { key, ...padding },
      proof.signature,
    );
    if (!isAuthentic) throw new Error('the client does not have the key of its certificate');
    this.#transcript.push(writeHandshake(message));
    this.#state = { name: 'handshake', expected: HANDSHAKE.finished, negotiated, masterSecret };
  }

  #finish(message: HandshakeMessage, state: Expecting<typeof HANDSHAKE.finished>): void {
    const { negotiated, masterSecret } = state;
    const expected = prf(masterSecret, 'client finished', this.#transcriptHash(), verifyDataBytes);
    if (message.body.length !== verifyDataBytes || !timingSafeEqual(message.body, expected)) {
      throw new Error('the handshake was changed on the way');
    }
    this.#transcript.push(writeHandshake(message));
    const verifyData = prf(masterSecret, 'server finished', this.#transcriptHash(), verifyDataBytes);
    this.#state = { name: 'connected' };
    this.#startFlight(true, [[HANDSHAKE.finished, verifyData]]);
    this.#options.connected(this.#srtpSecrets(negotiated, masterSecret));
  }

  #startFlight(isLast: boolean, messages: readonly (readonly [number, Buffer])[]): void {
    this.#transcript.push(...this.#flights.start(isLast, messages).map(writeHandshake));
  }

  /** RFC 5764, 4.2. */
  #srtpSecrets({ clientRandom, profile }: Negotiated, masterSecret: Buffer): SrtpSecrets {
    const saltBytes = profile === SRTP_PROFILE.aeadAes128Gcm ? 12 : 14;
    const seed = Buffer.concat([clientRandom, this.#serverRandom]);
    const keys = prf(masterSecret, 'EXTRACTOR-dtls_srtp', seed, 2 * (16 + saltBytes));
    const saltsAt = 32;
    return {
      profile,
      client: { key: keys.subarray(0, 16), salt: keys.subarray(saltsAt, saltsAt + saltBytes) },
      server: { key: keys.subarray(16, 32), salt: keys.subarray(saltsAt + saltBytes) },
    };
  }

  #transcriptHash(): Buffer {
    return createHash('sha256').update(Buffer.concat(this.#transcript)).digest();
  }

  #fail(detail: string): void {
    this.#end('handshake-failed', `The DTLS handshake failed: ${detail}.`);
  }

  #end(reason: 'peer-closed' | 'handshake-failed', detail: string): void {
    if (this.#isClosed) return;
    this.#state = { name: 'closed' };
    this.#flights.stop();
    this.#options.closed(reason, detail);
  }
}

/** RFC 5246, 6.3. @param randoms the server's, then the client's */
function recordKeys(masterSecret: Buffer, randoms: Buffer): RecordKeys {
  const block = prf(masterSecret, 'key expansion', randoms, 40);
  return {
    clientKey: block.subarray(0, 16),
    serverKey: block.subarray(16, 32),
    clientSalt: block.subarray(32, 36),
    serverSalt: block.subarray(36, 40),
  };
}
