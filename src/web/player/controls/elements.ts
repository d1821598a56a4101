/** Creates an element with text. It is put into the page as text, so that names of videos are never HTML. */
export function createElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  {
    className,
    text,
    ...attributes
  }: { className?: string; text?: string } & Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  if (className !== undefined) element.className = className;
  if (text !== undefined) element.textContent = text;
  for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
  element.append(...children);
  return element;
}

export function createButton(text: string, onClick: () => void): HTMLButtonElement {
  const button = createElement('button', { text, className: 'action', type: 'button' });
  button.addEventListener('click', onClick);
  return button;
}

/** Changes the text only where it differs: screen readers announce changes. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** A button that copies a text, or selects it where the page may not write to the clipboard. */
export function copyButton(
  labels: { readonly copy: string; readonly copied: string },
  text: () => string,
  onRefused: () => void,
): HTMLButtonElement {
  const button = createButton(labels.copy, () => {
    navigator.clipboard?.writeText(text()).then(() => {
      button.textContent = labels.copied;
    }, onRefused);
    if (navigator.clipboard === undefined) onRefused();
  });
  button.classList.add('is-primary');
  return button;
}
