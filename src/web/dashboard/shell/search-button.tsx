import { useEffect } from 'preact/hooks';
import { openShellDialog } from '../state/shell-dialog.ts';
import { t } from '../texts/shell.ts';
import { Icon } from '../ui/icon.tsx';

const isApple = /Mac|iP(?:hone|ad)/.test(navigator.platform);

/** Opens the search. So do `/` and Ctrl+K or ⌘K. */
export function SearchButton() {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!isShortcut(event) || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      openShellDialog('search');
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  return (
    <button
      type="button"
      class="search-button"
      aria-keyshortcuts={`/ ${isApple ? 'Meta' : 'Control'}+K`}
      onClick={() => openShellDialog('search')}
    >
      <Icon name="search" size={18} />
      <span class="search-hint">{t('shell.search')}</span>
      <span class="search-keys" aria-hidden="true">
        {isApple ? '⌘ K' : 'Ctrl K'}
      </span>
    </button>
  );
}

function isShortcut({
  key,
  target,
  ctrlKey,
  metaKey,
  altKey,
  shiftKey,
  isComposing,
}: KeyboardEvent): boolean {
  if (isComposing || altKey) return false;
  if (key.toLowerCase() === 'k') return (ctrlKey || metaKey) && !shiftKey;
  const isTyping =
    target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
  return key === '/' && !isTyping && !ctrlKey && !metaKey;
}
