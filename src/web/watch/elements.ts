type Attributes = Readonly<Record<string, string | boolean>>;

/** Makes an element. Texts are never read as HTML. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, '');
    else if (value !== false) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** @throws Error when the page has no such element */
export function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}

const iconPaths = {
  share: 'M13 5l7 7-7 7v-4.2C8 14.8 5.2 16.4 3 19.5 4 13.6 7 10 13 9.200z',
  theatre: 'M3 6h18v12H3zM5 8v8h14V8z',
};

export function icon(name: keyof typeof iconPaths): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(svg.namespaceURI, 'path') as SVGPathElement;
  path.setAttribute('d', iconPaths[name]);
  path.setAttribute('fill-rule', 'evenodd');
  svg.append(path);
  return svg;
}
