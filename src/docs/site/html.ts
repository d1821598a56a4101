export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}

/** Formats a line of Markdown that has only code and bold text. */
export function inlineHtml(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}

/** Formats paragraphs and lists of Markdown. */
export function proseHtml(text: string): string {
  return text
    .split(/\n{2,}/)
    .map(block => {
      if (!block.startsWith('- ')) return `<p>${inlineHtml(block)}</p>`;
      const items = block.slice('- '.length).split(/\n- /);
      return `<ul>${items.map(item => `<li>${inlineHtml(item)}</li>`).join('')}</ul>`;
    })
    .join('\n');
}

/** A block of code, to which the script of the page adds a button that copies it. */
export function codeHtml(code: string, attributes = ''): string {
  return `<div class="code"><pre tabindex="0"${attributes}><code>${escapeHtml(code)}</code></pre></div>`;
}

/** Languages of examples by the names that code blocks have for them, in the order of their tabs. */
const exampleLanguages: Readonly<Record<string, string>> = {
  sh: 'curl',
  js: 'JavaScript',
  python: 'Python',
  php: 'PHP',
  go: 'Go',
};

/** One task in several languages. The script of the page shows one of them, and tabs for the others. @param codes HTML by language */
export function examplesHtml(codes: ReadonlyMap<string, string>): string {
  const blocks = Object.entries(exampleLanguages)
    .filter(([language]) => codes.has(language))
    .map(
      ([language, label]) =>
        `<pre tabindex="0" data-language="${language}" aria-label="${label}"><code>${codes.get(language)}</code></pre>`,
    );
  return `<div class="code examples">${blocks.join('\n')}</div>`;
}
