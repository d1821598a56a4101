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

/** Certificates fit with the other messages of the flight. */
const maxDatagramBytes = 1200;
const firstRetransmitMs = 400;
const maxRetransmitMs = 3_200;
const ALERT_CLOSE_NOTIFY = 0;
const ALERT_FATAL = 2;
const verifyDataBytes = 12;

interface Flight {
  readonly handshakes: readonly HandshakeMessage[];
  /** Sends ChangeCipherSpec before, and encrypts. */
  readonly isLast: boolean;
}

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
  #clientRandom = Buffer.alloc(0);
  #profile: SrtpProfile = SRTP_PROFILE.aeadAes128Gcm;
  #agreement: KeyAgreement | undefined;
  #clientCertificate: X509Certificate | undefined;
  #masterSecret: Buffer | undefined;
  /** Type of the client's next message. */
  #expected: number = HANDSHAKE.clientHello;
  #flight: Flight | undefined;
  #sentFlightAtMs = Number.NEGATIVE_INFINITY;
  /** The client has sent its last flight again, since ours was lost. */
  #isFlightRequested = false;
  #nextNumber = 0;
  #timer: NodeJS.Timeout | undefined;
  #isConnected = false;
  #isClosed = false;

  constructor(options: DtlsServerOptions) {
    this.#options = options;
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
      if (this.#isFlightRequested) this.#repeatFlight();
    } catch (error) {
      // Later on, anyone on the way could end the connection like this.
      if (!this.#isConnected) this.#fail(messageOf(error));
    }
  }

  /** Tells the client, once keys are agreed upon. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (!this.#isConnected) return;
    this.#options.send(this.#records.write(CONTENT.alert, 1, Buffer.from([1, ALERT_CLOSE_NOTIFY])));
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
      this.#isFlightRequested ||= isCurrent && type === lastOfClient;
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
    if (message.type !== this.#expected) {
      throw new Error(`message ${message.type} came instead of ${this.#expected}`);
    }
    switch (message.type) {
      case HANDSHAKE.clientHello:
        this.#startHandshake(message);
        break;
      case HANDSHAKE.certificate:
        this.#checkCertificate(message);
        break;
      case HANDSHAKE.clientKeyExchange:
        this.#agreeOnKeys(message);
        break;
      case HANDSHAKE.certificateVerify:
        this.#checkSignature(message);
        break;
      case HANDSHAKE.finished:
        this.#finish(message);
        break;
    }
  }

  #startHandshake(message: HandshakeMessage): void {
    const hello = readClientHello(message.body);
    if (typeof hello === 'string') throw new Error(`the client does not support ${hello}`);
    this.#transcript.push(writeHandshake(message));
    this.#clientRandom = Buffer.from(hello.random);
    this.#profile = hello.srtpProfile;
    this.#agreement = createKeyAgreement(hello.group);
    const { certificate } = this.#options;
    const parameters = writeKeyExchangeParameters(hello.group, this.#agreement.publicKey);
    const signed = Buffer.concat([this.#clientRandom, this.#serverRandom, parameters]);
    const signature = sign('sha256', signed, certificate.privateKey);
    this.#expected = HANDSHAKE.certificate;
    this.#startFlight(false, [
      [HANDSHAKE.serverHello, writeServerHello(this.#serverRandom, hello)],
      [HANDSHAKE.certificate, writeCertificate(certificate.der)],
      [HANDSHAKE.serverKeyExchange, writeServerKeyExchange(parameters, signature)],
      [HANDSHAKE.certificateRequest, writeCertificateRequest()],
      [HANDSHAKE.serverHelloDone, Buffer.alloc(0)],
    ]);
  }

  #checkCertificate(message: HandshakeMessage): void {
    const der = readCertificate(message.body);
    if (der === undefined) throw new Error('the client has no certificate');
    const isKnown = this.#options.fingerprints.some(({ hash, value }) => fingerprintOf(hash, der) === value);
    if (!isKnown) throw new Error("the client's certificate does not have the fingerprint of its SDP");
    this.#clientCertificate = new X509Certificate(der);
    this.#transcript.push(writeHandshake(message));
    this.#expected = HANDSHAKE.clientKeyExchange;
  }

  #agreeOnKeys(message: HandshakeMessage): void {
    this.#transcript.push(writeHandshake(message));
    const premaster = this.#agreement!.secret(readClientKeyExchange(message.body));
    // RFC 7627, 4.
    this.#masterSecret = prf(premaster, 'extended master secret', this.#transcriptHash(), 48);
    this.#records.useKeys(
      recordKeys(this.#masterSecret, Buffer.concat([this.#serverRandom, this.#clientRandom])),
    );
    this.#expected = HANDSHAKE.certificateVerify;
  }

  #checkSignature(message: HandshakeMessage): void {
    const proof = readCertificateVerify(message.body);
    if (proof === undefined) throw new Error('the client signs with an algorithm that was not offered');
    const { publicKey: key } = this.#clientCertificate!;
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
    this.#expected = HANDSHAKE.finished;
  }

  #finish(message: HandshakeMessage): void {
    const expected = prf(this.#masterSecret!, 'client finished', this.#transcriptHash(), verifyDataBytes);
    if (message.body.length !== verifyDataBytes || !timingSafeEqual(message.body, expected)) {
      throw new Error('the handshake was changed on the way');
    }
    this.#transcript.push(writeHandshake(message));
    const verifyData = prf(this.#masterSecret!, 'server finished', this.#transcriptHash(), verifyDataBytes);
    this.#isConnected = true;
    this.#startFlight(true, [[HANDSHAKE.finished, verifyData]]);
    // The client asks again if this was lost.
    clearTimeout(this.#timer);
    this.#options.connected(this.#srtpSecrets());
  }

  #startFlight(isLast: boolean, messages: readonly (readonly [number, Buffer])[]): void {
    const handshakes = messages.map(([type, body]) => ({ type, number: this.#nextNumber++, body }));
    this.#transcript.push(...handshakes.map(writeHandshake));
    this.#flight = { handshakes, isLast };
    this.#sendFlight();
    if (!isLast) this.#retransmitAfter(firstRetransmitMs);
  }

  #retransmitAfter(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#sendFlight();
      this.#retransmitAfter(Math.min(ms * 2, maxRetransmitMs));
    }, ms);
  }

  /** Once per datagram and interval, however many records ask for it. */
  #repeatFlight(): void {
    this.#isFlightRequested = false;
    if (performance.now() - this.#sentFlightAtMs >= firstRetransmitMs) this.#sendFlight();
  }

  #sendFlight(): void {
    if (this.#flight === undefined) return;
    this.#sentFlightAtMs = performance.now();
    const { handshakes, isLast } = this.#flight;
    const records = handshakes.map(message =>
      this.#records.write(CONTENT.handshake, isLast ? 1 : 0, writeHandshake(message)),
    );
    if (isLast) records.unshift(this.#records.write(CONTENT.changeCipherSpec, 0, Buffer.from([1])));
    let datagram: Buffer[] = [];
    let bytes = 0;
    for (const record of records) {
      if (bytes > 0 && bytes + record.length > maxDatagramBytes) {
        this.#options.send(Buffer.concat(datagram));
        datagram = [];
        bytes = 0;
      }
      datagram.push(record);
      bytes += record.length;
    }
    this.#options.send(Buffer.concat(datagram));
  }

  /** RFC 5764, 4.2. */
  #srtpSecrets(): SrtpSecrets {
    const saltBytes = this.#profile === SRTP_PROFILE.aeadAes128Gcm ? 12 : 14;
    const seed = Buffer.concat([this.#clientRandom, this.#serverRandom]);
    const keys = prf(this.#masterSecret!, 'EXTRACTOR-dtls_srtp', seed, 2 * (16 + saltBytes));
    const saltsAt = 32;
    return {
      profile: this.#profile,
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
    this.#isClosed = true;
    clearTimeout(this.#timer);
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
