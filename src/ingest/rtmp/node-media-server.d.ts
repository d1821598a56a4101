/**
 * What we use of node-media-server 4.4.3, read from its source; the types on the registry are those of version 2.
 * The protocol class is used below its session and server classes: those deliver to players without bound and keep
 * global state, and all that they add is replaced here.
 */

declare module 'node-media-server/src/protocol/rtmp.js' {
  /** One side of an RTMP connection: handshake in {@link Rtmp.parserData}, messages out through the send methods. */
  export default class Rtmp {
    /** An FLV file parser with a buffer of 1 MiB; RTMP publishing does not use it. */
    flv: unknown;
    /** 3 once the handshake is complete. */
    handshakeState: number;
    /** Bytes to send; the buffer is not used again. */
    onOutputCallback: (bytes: Buffer) => void;
    /** Takes bytes off the wire: first the handshake, then everything is handed to {@link Rtmp.chunkRead}. */
    parserData(bytes: Buffer): string | null;
    /** Takes `length` bytes of `data` from `offset`, which follow the handshake. */
    chunkRead(data: Buffer, offset: number, length: number): string | null;
    /** Acknowledgement: bytes received so far, modulo 2^32. */
    sendACK(byteCount: number): void;
    sendWindowACK(bytes: number): void;
    /** `type` 2 is dynamic. */
    setPeerBandwidth(bytes: number, type: number): void;
    /** Announces our chunk size. Messages are always written in chunks of 65535 bytes. */
    setChunkSize(bytes: number): void;
    /** User control message of six bytes: event type and a 32 bit value. */
    sendStreamStatus(event: number, value: number): void;
    /** AMF0 command. Of `message` only the fields that the library knows for this `cmd` are sent. Texts must be ASCII. */
    sendInvokeMessage(
      messageStreamId: number,
      message: { cmd: string; transId: number; cmdObj?: unknown; info?: unknown },
    ): void;
    sendStatusMessage(messageStreamId: number, level: string, code: string, description: string): void;
    /** Answers createStream with the next number. */
    respondCreateStream(transactionId: number): void;
  }
}

declare module 'node-media-server/src/protocol/amf.js' {
  const amf: {
    /** Null for a type that it does not know; throws on truncated input. `len` may exceed the input. */
    amf0DecodeOne(bytes: Buffer): { len: number; value: unknown } | null;
  };
  export default amf;
}

declare module 'node-media-server/src/core/logger.js' {
  /** The library's one logger; every other method of it calls `log`. */
  const logger: { level: string; log: (message: unknown, level?: string) => void };
  export default logger;
}
