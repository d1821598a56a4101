/**
 * The used parts of node-media-server 4.4.3; the registry's types are those of version 2. Its public entry buffers
 * for slow players without limit, accepts media before the stream key is checked and exits the process when it cannot
 * listen, so the protocol class is used instead.
 */

declare module 'node-media-server/src/protocol/rtmp.js' {
  export default class Rtmp {
    /** 1 MiB FLV file buffer, unused for RTMP publishing. */
    flv: unknown;
    /** The buffer is not reused. */
    onOutputCallback: (bytes: Buffer) => void;
    /** Reads the handshake of 3073 bytes, and sends its answer. */
    parserData(bytes: Buffer): string | null;
    /** Bytes received so far, modulo 2^32. */
    sendACK(byteCount: number): void;
    sendWindowACK(bytes: number): void;
    /** `type` 2 is dynamic. */
    setPeerBandwidth(bytes: number, type: number): void;
    /** Messages are always written in chunks of 65535 bytes. */
    setChunkSize(bytes: number): void;
    /** Event type and a 32-bit value. */
    sendStreamStatus(event: number, value: number): void;
    /** Sends only the fields that the library knows for this `cmd`. Texts must be ASCII. */
    sendInvokeMessage(
      messageStreamId: number,
      message: { cmd: string; transId: number; cmdObj?: unknown; info?: unknown },
    ): void;
    sendStatusMessage(messageStreamId: number, level: string, code: string, description: string): void;
    /** Answers with the next number. */
    respondCreateStream(transactionId: number): void;
  }
}

declare module 'node-media-server/src/protocol/amf.js' {
  const amf: {
    /** Null for an unknown type; throws on truncated input. `len` may exceed the input. */
    amf0DecodeOne(bytes: Buffer): { len: number; value: unknown } | null;
  };
  export default amf;
}

declare module 'node-media-server/src/core/logger.js' {
  /** The library's only logger; its other methods call `log`. */
  const logger: { level: string; log: (message: unknown, level?: string) => void };
  export default logger;
}
