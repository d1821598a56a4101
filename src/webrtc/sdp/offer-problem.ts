import type { MediaDescription, SessionDescription } from './session-description.ts';

/** The description whose transport all others share. */
export function transportOf(offer: SessionDescription): MediaDescription | undefined {
  return offer.media.find(({ mid }) => mid === offer.bundle[0]) ?? offer.media.find(each => !each.isRejected);
}

/** Says why this server cannot connect to the sender of an offer. */
export function offerProblem(
  offer: SessionDescription,
  used: readonly MediaDescription[],
): string | undefined {
  const transport = transportOf(offer);
  if (transport === undefined || used.length === 0) return 'The offer has no media that this server can use.';
  if (offer.isIceLite)
    return 'The offer is of an ICE-lite agent, as this server is. One side must be a full agent.';
  if (transport.ice === undefined) return 'The offer lacks valid "ice-ufrag" and "ice-pwd" attributes.';
  if (transport.fingerprints.length === 0)
    return 'The offer lacks a "fingerprint" with SHA-256, SHA-384 or SHA-512.';
  if (transport.setup !== 'actpass' && transport.setup !== 'active') {
    return 'The offer must have "a=setup:actpass" or "a=setup:active".';
  }
  if (!used.every(({ hasRtcpMux }) => hasRtcpMux)) return 'The offer must have "a=rtcp-mux" for each medium.';
  if (used.length > 1 && !used.every(({ mid }) => offer.bundle.includes(mid))) {
    return 'The offer must bundle all media ("a=group:BUNDLE").';
  }
  if (!used.every(({ protocol }) => /^(UDP|TCP)\/TLS\/RTP\/SAVPF?$/.test(protocol))) {
    return 'The offer must use RTP over DTLS (UDP/TLS/RTP/SAVPF).';
  }
  return undefined;
}
