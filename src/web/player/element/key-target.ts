/** Leaves keys to fields, dialogs, focused buttons and sliders, and the browser. */
export function isForPlayer(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return false;
  const target = event.composedPath()[0];
  if (!(target instanceof Element)) return true;
  if (target.closest('dialog, textarea, select, [contenteditable]') !== null) return false;
  if (target instanceof HTMLInputElement)
    return target.type === 'range' && !/^(Arrow|Home|End|Page)/.test(event.key);
  return !(event.key === ' ' && (target.localName.endsWith('button') || target instanceof HTMLButtonElement));
}
