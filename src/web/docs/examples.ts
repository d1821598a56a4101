const storageKey = 'millrace.example-language';

interface ExampleTabs {
  readonly tabs: ReadonlyMap<string, HTMLElement>;
  show(language: string): void;
}

let shownLanguage = storedLanguage();

/** Gives examples in several languages tabs. The choice holds for all of them, on all pages. */
export function addExampleTabs(): void {
  const groups = [...document.querySelectorAll<HTMLElement>('.examples')].map(addTabs);
  for (const group of groups) {
    group.show(shownLanguage);
    for (const [language, tab] of group.tabs) {
      tab.addEventListener('click', () => {
        const { top } = tab.getBoundingClientRect();
        choose(language);
        for (const other of groups) other.show(language);
        // Examples above have other heights now.
        scrollBy({ top: tab.getBoundingClientRect().top - top, behavior: 'instant' });
      });
    }
  }
}

function addTabs(group: HTMLElement, index: number): ExampleTabs {
  const panels = new Map(
    [...group.querySelectorAll<HTMLElement>('pre')].map(panel => [panel.dataset.language!, panel]),
  );
  const list = document.createElement('div');
  list.className = 'languages';
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', 'Language');
  const tabs = new Map<string, HTMLElement>();
  for (const [language, panel] of panels) {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.id = `tab-${index}-${language}`;
    tab.textContent = panel.ariaLabel;
    tab.setAttribute('role', 'tab');
    panel.id = `example-${index}-${language}`;
    panel.setAttribute('role', 'tabpanel');
    panel.setAttribute('aria-labelledby', tab.id);
    panel.removeAttribute('aria-label');
    tab.setAttribute('aria-controls', panel.id);
    tabs.set(language, tab);
  }
  list.append(...tabs.values());
  list.addEventListener('keydown', event => moveFocus(event, [...tabs.values()]));
  group.prepend(list);
  const show = (wanted: string) => {
    const shown = panels.has(wanted) ? wanted : [...panels.keys()][0]!;
    for (const [language, panel] of panels) {
      const isShown = language === shown;
      panel.hidden = !isShown;
      tabs.get(language)!.setAttribute('aria-selected', String(isShown));
      tabs.get(language)!.tabIndex = isShown ? 0 : -1;
    }
  };
  return { tabs, show };
}

function moveFocus(event: KeyboardEvent, tabs: readonly HTMLElement[]): void {
  const at = tabs.indexOf(event.target as HTMLElement);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }[event.key];
  const tab = to === undefined ? undefined : tabs.at(to % tabs.length);
  if (tab === undefined) return;
  event.preventDefault();
  tab.focus();
  tab.click();
}

function choose(language: string): void {
  shownLanguage = language;
  try {
    localStorage.setItem(storageKey, language);
  } catch {
    // The choice is lost with the page.
  }
}

function storedLanguage(): string {
  try {
    return localStorage.getItem(storageKey) ?? '';
  } catch {
    return '';
  }
}
