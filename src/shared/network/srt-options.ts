/** Parameters of an SRT address, with the names that they have in libsrt. */
export interface SrtOptions {
  readonly streamId: string | undefined;
  readonly latencyMs: number;
  /** Undefined: not encrypted. */
  readonly encryption: { readonly passphrase: string; readonly keyBytes: 16 | 24 | 32 } | undefined;
}

const defaultLatencyMs = 500;
const maxLatencyMs = 10_000;
const maxStreamIdBytes = 512;

/** Says what is wrong with the parameters, or returns undefined. Never contains one. */
export function srtOptionsProblem(
  { searchParams }: URL,
  listener: 'source' | 'destination',
): string | undefined {
  const mode = searchParams.get('mode') ?? 'caller';
  if (mode !== 'caller') return `Only mode=caller is supported: the ${listener} must listen.`;
  const passphraseBytes = Buffer.byteLength(searchParams.get('passphrase') ?? 'undefined passphrase');
  if (passphraseBytes < 10 || passphraseBytes > 79) return 'The passphrase must have 10 to 79 characters.';
  const latencyMs = Number(searchParams.get('latency') ?? 0);
  if (!(latencyMs >= 0 && latencyMs <= maxLatencyMs)) return 'The latency must be 0 to 10000 milliseconds.';
  const streamIdBytes = Buffer.byteLength(searchParams.get('streamid') ?? '');
  if (streamIdBytes > maxStreamIdBytes) return 'The stream ID must have at most 512 characters.';
  return undefined;
}

/** @param url without a {@link srtOptionsProblem} */
export function readSrtOptions({ searchParams }: URL): SrtOptions {
  const passphrase = searchParams.get('passphrase');
  const keyBytes =
    ([16, 24, 32] as const).find(bytes => String(bytes) === searchParams.get('pbkeylen')) ?? 16;
  return {
    streamId: searchParams.get('streamid') ?? undefined,
    latencyMs: Math.round(Number(searchParams.get('latency') ?? defaultLatencyMs)),
    encryption: passphrase === null ? undefined : { passphrase, keyBytes },
  };
}
