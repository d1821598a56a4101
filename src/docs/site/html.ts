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
