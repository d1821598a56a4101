/** Adds `embed` to the address of a live stream or video, which asks for the player without the page around it. */
export function playerAlone(address: string): string {
  const [page = '', ...fragment] = address.split('#');
  return [`${page}${page.includes('?') ? '&' : '?'}embed`, ...fragment].join('#');
}

/** State that a player page brings to the player, from its HTML. */
export function stateOfPage(html: string): Record<string, unknown> {
  const [, escaped = '{}'] = /data-state="([^"]*)"/.exec(html) ?? [];
  return JSON.parse(escaped.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))));
}

/** Function for pages that finds the first element of a selector, also in shadow roots, as Playwright does. */
export const findInPlayer = `function find(selector, root = document) {
  const found = root.querySelector(selector);
  if (found !== null) return found;
  for (const { shadowRoot } of root.querySelectorAll('*')) {
    const inside = shadowRoot === null ? null : find(selector, shadowRoot);
    if (inside !== null) return inside;
  }
  return null;
}`;
