type TextAttribute = 'aria-label' | 'aria-valuetext';

/** Texts for screen readers on elements of media-chrome, which sets its own, in English, whenever its state changes. */
export class SpokenTexts {
  readonly #texts = new WeakMap<Element, Map<string, string>>();
  readonly #observer = new MutationObserver(changes => {
    for (const { target, attributeName } of changes) this.#restore(target as Element, attributeName!);
  });

  set(element: Element, name: TextAttribute, text: string): void {
    const texts = this.#texts.get(element) ?? new Map<string, string>();
    if (texts.size === 0) {
      this.#texts.set(element, texts);
      this.#observer.observe(element, { attributeFilter: ['aria-label', 'aria-valuetext'] });
    }
    texts.set(name, text);
    this.#restore(element, name);
  }

  #restore(element: Element, name: string): void {
    const text = this.#texts.get(element)?.get(name);
    if (text !== undefined && element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}
