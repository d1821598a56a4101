/** Adds `embed` to the address of a live stream or video, which asks for the player without the page around it. */
export function playerAlone(address: string): string {
  const [page = '', ...fragment] = address.split('#');
  return [`${page}${page.includes('?') ? '&' : '?'}embed`, ...fragment].join('#');
}
