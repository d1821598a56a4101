/**
 * True for an answer of a server that listens to its own machine only. Firefox does not connect to it over WebRTC, since it
 * gathers no loopback candidates.
 */
export function isLoopbackOnly(answer: string): boolean {
  const addresses = [...answer.matchAll(/^a=candidate:\S+ \d+ \S+ \d+ (\S+) /gm)].map(
    ([, address]) => address!,
  );
  return addresses.length > 0 && addresses.every(address => address === '::1' || address.startsWith('127.'));
}
