/** The IPv4 address inside one that is mapped to IPv6, as sockets for both report it. */
export function unmappedAddress(address: string): string {
  return address.replace(/^::ffff:/i, '');
}
